// profiler dump

#include "src/cli/files/dump_command.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/cli/command.h"
#include "src/cli/option_values.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/view.h"
#include "src/format/perf_data/dump/dump.h"
#include "src/format/perf_data/dump/perf_dump.h"
#include "src/format/perf_data/read/recording.h"

namespace profiler::cli {
namespace {

struct DumpArguments {
  std::string input = "perf.data";
  std::string types = {};
  uint64_t max_records = UINT64_MAX;
  bool hex = false;
};

int WriteDump(const DumpArguments& arguments) {
  perf_data::DumpOptions options;
  for (const std::string& name : SplitList(arguments.types)) {
    const auto type = perf_data::ParseRecordType(name);
    if (!type.ok()) {
      PrintError(type.status());
      return kExitUsage;
    }
    options.types.push_back(*type);
  }
  options.max_records = arguments.max_records;
  options.hex = arguments.hex;
  const auto recording = OpenRecordingOrPrint(arguments.input);
  if (recording == nullptr) return kExitFailure;
  Output output("-");
  const absl::Status reading =
      perf_data::Dump(*recording, options, [&](std::string_view text) { output.Write(text); });
  return Finish(*recording, reading, output);
}

}  // namespace

int DumpRecordingAsPerf(const std::string& input, std::optional<importers::Format> format,
                        const std::function<std::string(perf_data::Recording&)>& end) {
  const auto recording = OpenRecordingOrPrint(input, format);
  if (recording == nullptr) return kExitFailure;
  Output output("-");
  const absl::Status reading =
      perf_data::DumpAsPerf(*recording, input, [&](std::string_view text) { output.Write(text); });
  if (end && perf_data::CanBeReadAgain(input)) output.Write(end(*recording));
  return Finish(*recording, reading, output);
}

void AddDumpCommand(usage::Command& app, Commands& commands) {
  usage::Command& command =
      app.AddCommand("dump", "Print every record of a recording with its offset and all fields");
  auto arguments = std::make_shared<DumpArguments>();
  DumpArguments& a = *arguments;
  command.AddOption("-i,--input", a.input, "recording; - for standard input").ShowDefault();
  command.AddOption("--type", a.types, "show only records of these types, by name or number")
      .ValueName("NAME,…");
  command.AddOption("--max", a.max_records, "show only the first N records").ValueName("N");
  command.AddFlag("--hex", a.hex, "also show the bytes of each record");
  commands[&command] = [arguments] { return WriteDump(*arguments); };
}

}  // namespace profiler::cli
