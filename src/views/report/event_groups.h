// Finds the groups of events in a recording.

#pragma once

#include <vector>

#include "src/format/perf_data/read/recording.h"
#include "src/views/report/options.h"

namespace profiler::report {

// Returns the groups of events, with or without names. Returns none if each event was counted by
// itself.
std::vector<EventGroup> EventGroupsOf(const perf_data::Recording& recording);

}  // namespace profiler::report
