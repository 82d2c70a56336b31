// profiler record

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/cli/command.h"
#include "src/cli/recording/closing_summary.h"
#include "src/cli/recording/record_once.h"
#include "src/cli/recording/record_options.h"
#include "src/cli/recording/repeat_runs.h"
#include "src/cli/recording/runtime_maps.h"
#include "src/cli/terminal/output.h"

namespace profiler::cli {
namespace {

void PrintNeedless(const RecordArguments& arguments) {
  for (const IgnoredOption& needless : arguments.needless) {
    if (needless.option.Count() == 0) continue;
    PrintNote(absl::StrCat(needless.option.Name(), " has no effect: ", needless.why));
  }
}

absl::StatusOr<record::RecordOptions> ReadAndCheckOptions(const usage::Command& command,
                                                          const RecordArguments& arguments,
                                                          const Invocation& invocation) {
  auto options = ReadRecordOptions(command, arguments, invocation);
  if (!options.ok()) return options;
  PROFILER_RETURN_IF_ERROR(CheckSummary(arguments, *options));
  if (arguments.repeat) PROFILER_RETURN_IF_ERROR(CheckRepeat(*options));
  return options;
}

int Record(const RecordArguments& arguments, record::RecordOptions options) {
  if (arguments.verbosity > 0) PrintNeedless(arguments);
  if (arguments.dry_run) return kExitOk;
  if (arguments.runtime_maps) options.targets.notes.push_back(AskForRuntimeMaps());
  std::unique_ptr<TimedControl> timed;
  if (auto times = ReadEnabledTimes(arguments); times.ok() && !times->empty()) {
    auto control = TimedControl::Start(*std::move(times));
    if (!control.ok()) {
      PrintError(control.status());
      return kExitFailure;
    }
    timed = *std::move(control);
    options.control = timed->places();
  }
  if (arguments.repeat) return RecordRepeatedly(arguments, options);
  Said said;
  const Recorded recorded = RecordOnce(arguments, std::move(options), said);
  PrintClosingSummary(arguments, recorded);
  return ExitCodeOf(recorded);
}

}  // namespace

void AddRecordCommand(usage::Command& app, Commands& commands, Invocation invocation) {
  usage::Command& command = app.AddCommand("record", "Record where a program spends its time");
  command.SetFooter(
      "Without a command, recording ends at Ctrl-C, after --duration, or when all targets have "
      "ended.");
  command.SetRunsProgram();
  auto arguments = std::make_shared<RecordArguments>();
  AddRecordOptions(command, *arguments);

  commands[&command] = [arguments, &command, invocation = std::move(invocation)] {
    if (const auto registers = ListOfRegisters(*arguments)) {
      Output output("-");
      output.Write(*registers + "\n");
      return output.Close().ok() ? kExitOk : kExitFailure;
    }
    auto options = ReadAndCheckOptions(command, *arguments, invocation);
    if (!options.ok()) {
      PrintError(options.status());
      return kExitUsage;
    }
    return Record(*arguments, *std::move(options));
  };
}

}  // namespace profiler::cli
