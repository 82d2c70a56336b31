#include "src/cli/views/load_run.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "src/analysis/measure.h"
#include "src/analysis/wall_clock.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/view.h"

namespace profiler::cli {

void AskForRuns(naming::LoadOptions& load) {
  load.keep_order = true;
  // Compilers number clones arbitrarily, so they are not comparable between builds.
  load.names.merge_clones = true;
}

absl::StatusOr<diff::Run> LoadRun(const std::string& path, const naming::LoadOptions& load,
                                  const std::string& event, analysis::KeyBy by) {
  PROFILER_ASSIGN_OR_RETURN(naming::LoadedProfile loaded, naming::LoadProfile(path, load));
  for (const std::string& warning : loaded.recording->warnings()) PrintWarning(warning);
  profile::Profile& profile = loaded.profile;
  PrintRefusedFiles(profile);
  PROFILER_RETURN_IF_ERROR(loaded.reading);
  if (const auto reason = KeepFiltered(load, loaded)) {
    return absl::NotFoundError(absl::StrCat(path, ": ", *reason));
  }
  PROFILER_ASSIGN_OR_RETURN(const auto chosen, analysis::ChooseEventOrWallClock(event, profile));
  if (!chosen) return absl::NotFoundError(absl::StrCat(path, ": has no samples to compare"));
  analysis::KeyedRows keys(profile, *chosen, by);
  analysis::Measurement measured = analysis::Measure(profile, *chosen, keys);
  return diff::Run{.name = path,
                   .event = std::string(profile.text(profile[*chosen].name)),
                   .names = std::move(keys).TakeNames(),
                   .measured = std::move(measured)};
}

}  // namespace profiler::cli
