#include "src/cli/views/load_run.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "src/analysis/event_choice.h"
#include "src/analysis/measure.h"
#include "src/analysis/wall_clock.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/view.h"

namespace profiler::cli {

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
                   .names = std::move(keys).TakeNames(),
                   .measured = std::move(measured)};
}

}  // namespace profiler::cli
