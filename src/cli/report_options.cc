#include "src/cli/report_options.h"

#include "src/cli/option_values.h"

namespace profiler::cli {
namespace {

absl::Status ReadIds(const std::string& text, std::vector<uint32_t>* ids) {
  if (text.empty()) return absl::OkStatus();
  PROFILER_ASSIGN_OR_RETURN(const std::vector<int> numbers, ParseIdList(text));
  ids->assign(numbers.begin(), numbers.end());
  return absl::OkStatus();
}

}  // namespace

void AddFilterOptions(CLI::App& command, FilterText& text) {
  command.add_option("--comms", text.comms, "only these commands")->type_name("NAME,…");
  command.add_option("--dsos", text.dsos, "only these DSOs (images)")->type_name("NAME,…");
  command.add_option("--symbols", text.symbols, "only these symbols")->type_name("NAME,…");
  command.add_option("--pid", text.pids, "only these processes")->type_name("PID,…");
  command.add_option("--tid", text.tids, "only these threads")->type_name("TID,…");
}

absl::StatusOr<report::Filter> ParseFilter(const FilterText& text) {
  report::Filter filter;
  filter.comms = SplitList(text.comms);
  filter.dsos = SplitList(text.dsos);
  filter.symbols = SplitList(text.symbols);
  PROFILER_RETURN_IF_ERROR(ReadIds(text.pids, &filter.pids));
  PROFILER_RETURN_IF_ERROR(ReadIds(text.tids, &filter.tids));
  return filter;
}

}  // namespace profiler::cli
