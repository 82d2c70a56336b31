// profiler top

#include "src/cli/live/top_command.h"

#include <malloc.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ringbuf/kernel.h"
#include "src/cli/command.h"
#include "src/cli/live/top_loop.h"
#include "src/cli/live/top_options.h"
#include "src/cli/recording/record_once.h"
#include "src/cli/terminal/output.h"
#include "src/live/live_recording.h"
#include "src/machine/target/blocked_signals.h"
#include "src/machine/target/targets.h"
#include "src/terminal/curses_screen.h"

namespace profiler::cli {
namespace {

// Begins to record. If this user may not record the whole machine, which is the default, records
// the user's own processes instead and says how to lift that.
absl::StatusOr<std::unique_ptr<live::LiveRecording>> Start(TopPlan& plan) {
  auto live = live::LiveRecording::Start(ringbuf::LinuxKernel(), plan.live);
  if (live.ok() || !plan.is_default_target || !absl::IsPermissionDenied(live.status())) {
    return live;
  }
  auto own = target::ProcessesOfUser({}, std::to_string(getuid()));
  if (!own.ok()) return live;
  target::Targets& targets = plan.live.recording.targets;
  targets = {.pids = *std::move(own), .pids_may_be_gone = true};
  auto restricted = live::LiveRecording::Start(ringbuf::LinuxKernel(), plan.live);
  if (!restricted.ok()) return live;
  PrintWarning(absl::StrCat("only your own processes are shown: ", live.status().message()));
  return restricted;
}

// True if the screen is wanted and possible.
bool UsesScreen(const TopArguments& arguments) {
  return !arguments.stdio && !arguments.report.json && arguments.iterations == 0 &&
         terminal::CanOpenScreen();
}

void PrintNotes(const TopArguments& arguments, const live::LiveRecording& live) {
  for (const std::string& note : live.notes()) PrintWarning(note);
  if (live.call_graph().empty() || arguments.record.verbosity == 0) return;
  PrintNote("call graph: " + live.call_graph());
}

absl::StatusOr<record::RecordSummary> Run(const TopArguments& arguments, TopPlan& plan) {
  // By default each thread gets its own heap, and heaps return little memory to the system: beside a
  // build, 890 MB instead of 530 MB.
  mallopt(M_ARENA_MAX, 1);
  // Blocked before threads begin, so that all of them have the signals blocked. A screen restores
  // the terminal by its own handlers.
  std::optional<target::BlockedSignals> signals;
  const bool uses_screen = UsesScreen(arguments);
  if (!uses_screen) {
    absl::StatusOr<target::BlockedSignals> blocked = target::BlockStopSignals();
    PROFILER_RETURN_IF_ERROR(blocked.status());
    signals.emplace(*std::move(blocked));
  }
  for (const std::string& note : plan.live.recording.targets.notes) PrintNote(note);
  PROFILER_ASSIGN_OR_RETURN(const std::unique_ptr<live::LiveRecording> live, Start(plan));
  PrintNotes(arguments, *live);
  absl::Status status = uses_screen ? RunTopScreen(arguments, plan, *live)
                                    : RunTopText(arguments, plan, *live, *signals);
  // A screen is gone by now, so only a file needs the samples whose names are being looked up.
  using Waiting = live::LiveRecording::Waiting;
  const live::LiveOutcome outcome =
      live->Stop(uses_screen && arguments.write.empty() ? Waiting::kIsDropped : Waiting::kIsNamed);
  status.Update(outcome.status);
  PROFILER_RETURN_IF_ERROR(status);
  if (!arguments.write.empty()) {
    PROFILER_RETURN_IF_ERROR(
        WriteShown(live->history(), std::nullopt, plan, arguments.write, PrintNote));
  }
  return outcome.summary;
}

int RunTop(const TopArguments& arguments, TopPlan plan) {
  const auto summary = Run(arguments, plan);
  if (!summary.ok()) PrintError(summary.status());
  return summary.ok() ? ExitCodeOf({.status = {}, .summary = *summary})
                      : ExitCodeOf({.status = summary.status(), .summary = {}});
}

}  // namespace

void AddTopCommand(usage::Command& app, Commands& commands, Invocation invocation) {
  usage::Command& command =
      app.AddCommand("top", "Show live where a machine or a program spends its time");
  command.SetFooter("Without a target, the whole machine is shown (-a).");
  auto arguments = std::make_shared<TopArguments>();
  AddTopOptions(command, *arguments);

  commands[&command] = [arguments, &command, invocation = std::move(invocation)] {
    auto plan = ReadTopPlan(command, *arguments, invocation);
    if (!plan.ok()) {
      PrintError(plan.status());
      return kExitUsage;
    }
    return RunTop(*arguments, *std::move(plan));
  };
}

}  // namespace profiler::cli
