// A recording as one run among others that it is compared with.

#pragma once

#include <string>

#include "src/base/status.h"
#include "src/diff/run.h"
#include "src/naming/load_profile.h"
#include "src/query/keyed_rows.h"

namespace profiler::cli {

// What LoadRun needs of every recording, so that they have names in common and figures of chance.
void AskForRuns(naming::LoadOptions& load);

// The named event of the recording, or that of ChooseEventOrWallClock. Prints its warnings. Errors:
// those of naming::LoadProfile, and of a recording that is damaged: half of it would be taken for
// less; kNotFound where there are no samples or no such event.
absl::StatusOr<diff::Run> LoadRun(const std::string& path, const naming::LoadOptions& load,
                                  const std::string& event, query::KeyBy by);

}  // namespace profiler::cli
