// Formats a report as JSON (docs/json.md): the rows of each event, with their intervals.

#pragma once

#include <string>

#include "src/profile/profile.h"
#include "src/views/json/recording_facts.h"
#include "src/views/report/options.h"

namespace profiler::report {

// Returns the JSON. The profile must have the order of its samples. Rows are those of WriteReport,
// without call graphs; the events of a group have separate rows. Memory: about 1 kB per row.
// Thread-safe.
std::string ReportAsJson(const profile::Profile& profile, const ReportOptions& options,
                         const json::RecordingFacts& recording);

}  // namespace profiler::report
