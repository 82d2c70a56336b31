// Loads a recording as one of several runs to compare.

#pragma once

#include <string>

#include "src/analysis/keyed_rows.h"
#include "src/base/status.h"
#include "src/cli/views/load_view.h"
#include "src/views/diff/run.h"

namespace profiler::cli {

// Sets options that LoadRun needs for every recording: comparable names, and the order of samples
// for confidence intervals.
void AskForRuns(ViewOptions& load);

// Loads the named event or, if `event` is empty, the event that analysis::ChooseEvent chooses.
// Prints the recording's warnings. Errors: those of LoadView. Returns kNotFound if the
// event does not exist or has no sample. A damaged recording is an error, too, because its intact
// part would look like a faster run.
absl::StatusOr<diff::Run> LoadRun(const std::string& path, const ViewOptions& load,
                                  const std::string& event, analysis::KeyBy by);

}  // namespace profiler::cli
