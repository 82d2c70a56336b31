#include "src/cli/recording/repeat_runs.h"

#include <signal.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/cli/recording/closing_summary.h"
#include "src/cli/recording/record_once.h"
#include "src/cli/recording/signal_counter.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/load_run.h"
#include "src/views/diff/mean.h"

namespace profiler::cli {
namespace {

constexpr std::array kEnding = {SIGINT, SIGTERM, SIGHUP};

// True if the command was recorded to its end, so that the run is comparable.
bool IsWhole(const record::RecordSummary& summary) {
  return summary.stop_reason != record::StopReason::kSignal &&
         summary.stop_reason != record::StopReason::kRequested;
}

// Warns that a run failed. A failed run may have done less work than the other runs, but it counts
// like them.
void WarnOfFailure(const record::RecordSummary& summary) {
  const auto& command = summary.command;
  if (!command || command->ended_by_us) return;
  if (command->signal != 0) {
    PrintWarning(
        absl::StrCat(summary.last_file, ": signal ", command->signal, " ended the command"));
  } else if (command->exit_code != 0) {
    PrintWarning(
        absl::StrCat(summary.last_file, ": the command ended with exit code ", command->exit_code));
  }
}

ViewOptions LoadOptionsFor(const RecordArguments& arguments) {
  ViewOptions load;
  AskForRuns(load);
  load.keep_thread = false;
  load.naming.places.no_cache = arguments.no_cache;
  load.naming.places.no_sandbox = arguments.no_sandbox;
  load.naming.warn = PrintWarning;
  load.naming.fetch.off = true;
  return load;
}

void PrintMean(const RecordArguments& arguments, const std::vector<std::string>& files) {
  const ViewOptions load = LoadOptionsFor(arguments);
  std::vector<diff::Run> runs;
  for (const std::string& file : files) {
    // Uses the event of the first run for all runs, even if they have samples of other events.
    auto run = LoadRun(file, load, runs.empty() ? "" : runs[0].event, analysis::KeyBy::kFunction);
    if (run.ok()) {
      runs.push_back(*std::move(run));
    } else {
      PrintWarning(absl::StrCat("not in the table: ", run.status().message()));
    }
  }
  if (!runs.empty()) PrintFittedLines(diff::FormatMean(diff::MeanOf(runs), runs));
}

}  // namespace

absl::Status CheckRepeat(const record::RecordOptions& options) {
  const auto refused = [](std::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("--repeat: ", std::string(why)));
  };
  if (options.targets.command.empty())
    return refused("only a command can be repeated; give one after --");
  if (options.output == "-") {
    return refused("cannot be used with -o -, because each run writes its own file; give -o FILE");
  }
  if (options.switch_output) return refused("cannot be used with --switch-output");
  if (options.flight) return refused("cannot be used with --flight");
  return absl::OkStatus();
}

int RecordRepeatedly(const RecordArguments& arguments, const record::RecordOptions& options) {
  std::vector<std::string> whole;
  Recorded last;
  {
    // Ctrl-C ends the repetition even if it comes between two recordings. The table is printed all
    // the same.
    const SignalCounter signals(kEnding, /*once=*/true);
    Said said;
    for (uint32_t run = 1; run <= *arguments.repeat && signals.count() == 0; ++run) {
      record::RecordOptions of_run = options;
      of_run.output = absl::StrCat(options.output, ".", run);
      last = RecordOnce(arguments, std::move(of_run), said);
      if (!last.status.ok() || !IsWhole(last.summary)) break;
      whole.push_back(last.summary.last_file);
      WarnOfFailure(last.summary);
    }
  }
  PrintMissingNames(arguments, last);
  if (!arguments.quiet) PrintMean(arguments, whole);
  return ExitCodeOf(last);
}

}  // namespace profiler::cli
