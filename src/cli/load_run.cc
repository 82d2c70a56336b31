#include "src/cli/load_run.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "src/cli/output.h"
#include "src/cli/view.h"
#include "src/query/measure.h"
#include "src/query/wall_clock.h"

namespace profiler::cli {

void AskForRuns(naming::LoadOptions& load) {
  load.keep_order = true;
  // Compilers number clones arbitrarily, so they are not comparable between builds.
  load.names.merge_clones = true;
}

absl::StatusOr<diff::Run> LoadRun(const std::string& path, const naming::LoadOptions& load,
                                  const std::string& event, query::KeyBy by) {
  PROFILER_ASSIGN_OR_RETURN(naming::LoadedProfile loaded, naming::LoadProfile(path, load));
  for (const std::string& warning : loaded.recording->warnings()) PrintWarning(warning);
  profile::Profile& profile = loaded.profile;
  PrintRefusedFiles(profile);
  PROFILER_RETURN_IF_ERROR(loaded.reading);
  if (const auto reason = KeepFiltered(load, loaded)) {
    return absl::NotFoundError(absl::StrCat(path, ": ", *reason));
  }
  PROFILER_ASSIGN_OR_RETURN(const auto chosen, query::ChooseEventOrWallClock(event, profile));
  if (!chosen) return absl::NotFoundError(absl::StrCat(path, ": has no samples to compare"));
  query::KeyedRows keys(profile, *chosen, by);
  query::Measurement measured = query::Measure(profile, *chosen, keys);
  return diff::Run{.name = path,
                   .event = std::string(profile.text(profile[*chosen].name)),
                   .names = std::move(keys).TakeNames(),
                   .measured = std::move(measured)};
}

}  // namespace profiler::cli
