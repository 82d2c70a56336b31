#include "src/cli/views/report_options.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/cli/fleet/fleet_recording.h"
#include "src/cli/option_values.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/naming_arguments.h"
#include "src/importers/format.h"
#include "src/machine/procfs/machine.h"

namespace profiler::cli {
namespace {

absl::Status ReadIds(const std::string& text, std::vector<uint32_t>* ids) {
  if (text.empty()) return absl::OkStatus();
  PROFILER_ASSIGN_OR_RETURN(const std::vector<int> numbers, ParseIdList(text));
  ids->assign(numbers.begin(), numbers.end());
  return absl::OkStatus();
}

// Parses the filter. kInvalidArgument quotes the malformed text.
absl::StatusOr<analysis::Filter> ParseFilter(const FilterText& text) {
  analysis::Filter filter;
  filter.comms = SplitList(text.comms);
  filter.images = SplitList(text.images);
  filter.symbols = SplitList(text.symbols);
  PROFILER_RETURN_IF_ERROR(ReadIds(text.pids, &filter.pids));
  PROFILER_RETURN_IF_ERROR(ReadIds(text.tids, &filter.tids));
  return filter;
}

void AddFilterOptions(usage::Command& command, ShortFilters short_filters, FilterText& text) {
  const bool are_short = short_filters == ShortFilters::kYes;
  command.AddOption(are_short ? "-c,--comms,--comm" : "--comms", text.comms, "only these commands")
      .ValueName("NAME,…");
  command.AddOption(are_short ? "-d,--dsos" : "--dsos", text.images, "only these DSOs (images)")
      .ValueName("NAME,…");
  command.AddOption(are_short ? "-S,--symbols" : "--symbols", text.symbols, "only these symbols")
      .ValueName("NAME,…");
  command.AddOption("--pid", text.pids, "only these processes").ValueName("PID,…");
  command.AddOption("--tid", text.tids, "only these threads").ValueName("TID,…");
}

void AddSampleOptions(usage::Command& command, SampleText& text) {
  command
      .AddOption("--time", text.time,
                 "only samples from START to STOP, in seconds, of which either may be missing, or "
                 "in percent, as 10%-20%, or 10%/2 for the second tenth; several: "
                 "10%/1,10%/3 or \"1,2 4,5\"")
      .ValueName("START,STOP");
  command.AddOption("-C,--cpu", text.cpus, "only samples on these CPUs").ValueName("CPU,…");
}

// Sets times and CPUs in `load`. kInvalidArgument quotes the malformed text.
absl::Status ReadSampleOptions(const SampleText& text, naming::LoadOptions* load) {
  if (!text.time.empty()) {
    PROFILER_ASSIGN_OR_RETURN(load->times, ParseTimeRanges(text.time));
  }
  if (!text.cpus.empty()) {
    PROFILER_ASSIGN_OR_RETURN(const std::vector<int> cpus, procfs::ParseCpuList(text.cpus));
    load->cpus.assign(cpus.begin(), cpus.end());
  }
  return absl::OkStatus();
}

}  // namespace

void AddNameRules(usage::Command& command, NameOptions& names) {
  command
      .AddOption(
          "--fold-templates",
          [&names](const std::string& levels) -> absl::Status {
            uint32_t kept = 0;
            if (!levels.empty() && !absl::SimpleAtoi(levels, &kept)) {
              return absl::InvalidArgumentError("not a number: '" + levels + "'");
            }
            names.rules.fold_templates = kept;
            return absl::OkStatus();
          },
          "show template arguments as <...>, but for N levels of them")
      .ValueName("N")
      .ValueMayBeMissing();
  command.AddFlag("--merge-clones", names.rules.merge_clones,
                  "count .isra, .part, .constprop, .cold … with the function they were made of");
  command.AddFlag("--strip-args", names.rules.strip_args,
                  "show functions without parameters and return type; overloads are one");
}

void AddViewOptions(usage::Command& command, ViewArguments& arguments, ShortFilters short_filters) {
  command.AddOption("-i,--input", arguments.input, "recording; - for standard input").ShowDefault();
  AddRecordingOptions(command, arguments, short_filters);
}

void AddRecordingOptions(usage::Command& command, ViewArguments& arguments,
                         ShortFilters short_filters) {
  AddFilterOptions(command, short_filters, arguments.filter);
  AddSampleOptions(command, arguments.samples);
  command.AddFlag("--no-demangle", arguments.names.no_demangle,
                  "show symbols as the linker knows them");
  AddFilePlaceOptions(command, arguments.places);
  AddFetchOptions(command, arguments.fetch);
}

void AddFormatOption(usage::Command& command, ViewArguments& arguments, const std::string& name) {
  command
      .AddOption(
          name,
          [&arguments](const std::string& value) -> absl::Status {
            arguments.format = importers::FormatNamed(value);
            if (!arguments.format) {
              return absl::InvalidArgumentError(
                  absl::StrCat("no format '", value, "'; there are ", importers::FormatNames()));
            }
            return absl::OkStatus();
          },
          absl::StrCat("what a profile of another program is (default: what it begins like): ",
                       importers::FormatNames()))
      .ValueName("NAME");
}

void AddInlineOption(usage::Command& command, ViewArguments& arguments) {
  command.AddFlag("--no-inline", arguments.no_inline, "do not show inlined functions");
}

void AddFoldOption(usage::Command& command, ViewArguments& arguments) {
  command.AddFlag("--fold-native", arguments.fold_native,
                  "leave out what an interpreter (node, python, java, …) itself does between and "
                  "below named functions of its language; it counts as theirs");
}

usage::Option AddJsonOption(usage::Command& command, bool& json) {
  return command.AddFlag("--json", json, "as JSON, for programs (docs/json.md)");
}

void AddEventOption(usage::Command& command, std::string& event) {
  command
      .AddOption("--event", event,
                 "which event, where there are several (default: the first with samples); NAME#2 "
                 "is the second "
                 "event of that name")
      .ValueName("NAME");
}

absl::StatusOr<ViewOptions> LoadOptionsOf(const ViewArguments& arguments) {
  ViewOptions load;
  load.open = OpenOptionsFor(arguments.format);
  PROFILER_ASSIGN_OR_RETURN(load.plan.filter, ParseFilter(arguments.filter));
  PROFILER_RETURN_IF_ERROR(ReadSampleOptions(arguments.samples, &load));
  load.keep_thread = load.plan.filter.NeedsThreads();
  load.plan.names = arguments.names.rules;
  load.plan.fold_native = arguments.fold_native;
  load.naming.inlines = !arguments.no_inline;
  load.naming.demangle = !arguments.names.no_demangle;
  load.naming.places = arguments.places;
  load.naming.fetch = arguments.fetch;
  load.naming.warn = PrintWarning;
  return load;
}

}  // namespace profiler::cli
