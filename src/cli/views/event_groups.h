// The groups of events that a recording tells of.

#pragma once

#include <vector>

#include "src/format/perf_data/read/recording.h"
#include "src/views/report/options.h"

namespace profiler::cli {

// Returns the groups of events, with or without names; none if all events were counted alone.
std::vector<report::EventGroup> EventGroupsOf(const perf_data::Recording& recording);

}  // namespace profiler::cli
