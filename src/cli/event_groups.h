// The groups of events that a recording tells of.

#pragma once

#include <vector>

#include "src/perf_data/read/recording.h"
#include "src/report/options.h"

namespace profiler::cli {

// Returns the groups of events, with or without names; none if all events were counted alone.
std::vector<report::EventGroup> EventGroupsOf(const perf_data::Recording& recording);

}  // namespace profiler::cli
