// The groups of events that a recording tells of.

#pragma once

#include <vector>

#include "src/perf_data/read/recording.h"
#include "src/report/options.h"

namespace profiler::cli {

// Returns the groups in the order of their leaders; empty if the events were counted one by one.
std::vector<report::EventGroup> EventGroupsOf(const perf_data::Recording& recording);

}  // namespace profiler::cli
