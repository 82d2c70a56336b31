// A report as JSON (docs/json.md): the rows of each event, with their intervals.

#pragma once

#include <string>

#include "src/json/recording.h"
#include "src/profile/profile.h"
#include "src/report/options.h"

namespace profiler::report {

// The profile has the order of its samples. Rows are those that WriteReport shows; there are no
// call graphs, and the events of a group have rows of their own. The document takes some 1 kB of
// memory a row. Thread-safe.
std::string ReportAsJson(const profile::Profile& profile, const ReportOptions& options,
                         const json::RecordingFacts& recording);

}  // namespace profiler::report
