#include "src/cli/views/load_run.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/analysis/event_choice.h"
#include "src/analysis/measure.h"
#include "src/analysis/wall_clock.h"
#include "src/cli/recording/recorded_command.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/view.h"
#include "src/format/perf_event/attr.h"

namespace profiler::cli {
namespace {

// Returns the command whose processes were recorded. Returns nothing if the command only set the
// length of a recording of other processes (record -a -- sleep 10); then no event waits for an
// exec.
std::vector<std::string> CommandOf(const perf_data::Recording& recording) {
  const bool starts_command = std::ranges::any_of(recording.events(), [](const auto& event) {
    return (event.attr.flags & perf_event::kAttrEnableOnExec) != 0;
  });
  return starts_command ? RecordedCommand(recording.features().cmdline)
                        : std::vector<std::string>();
}

}  // namespace

void AskForRuns(ViewOptions& load) {
  load.keep_order = true;
  // Compilers number clones arbitrarily, so they are not comparable between builds.
  load.plan.names.merge_clones = true;
}

absl::StatusOr<diff::Run> LoadRun(const std::string& path, const ViewOptions& load,
                                  const std::string& event, analysis::KeyBy by) {
  ViewOptions options = load;
  options.plan.wall_clock = analysis::WallClockFor(event);
  PROFILER_ASSIGN_OR_RETURN(const auto loaded, LoadView(path, options));
  for (const std::string& warning : loaded->recording->warnings()) PrintWarning(warning);
  const profile::Profile& profile = loaded->profile;
  PrintRefusedFiles(profile);
  PROFILER_RETURN_IF_ERROR(loaded->reading);
  if (loaded->nothing_left) {
    return absl::NotFoundError(absl::StrCat(path, ": ", *loaded->nothing_left));
  }
  PROFILER_ASSIGN_OR_RETURN(const auto chosen, analysis::ChooseEvent(profile, event));
  if (!chosen) return absl::NotFoundError(absl::StrCat(path, ": has no samples to compare"));
  analysis::KeyedRows keys(profile, *chosen, by);
  analysis::Measurement measured = analysis::Measure(profile, *chosen, keys);
  return diff::Run{.name = path,
                   .event = std::string(profile.text(profile[*chosen].name)),
                   .command = CommandOf(*loaded->recording),
                   .names = std::move(keys).TakeNames(),
                   .measured = std::move(measured)};
}

}  // namespace profiler::cli
