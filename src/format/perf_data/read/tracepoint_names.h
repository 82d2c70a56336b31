// Names of tracepoints by their numbers, as a TRACING_DATA section has them
// (src/machine/events/tracing_data.h draws it).

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"

namespace profiler::perf_data {

// "sched:sched_switch" by the id of its format file. Of a section that is cut short, the names in
// front of the cut. Costs one pass over the section. Thread-safe.
absl::flat_hash_map<uint64_t, std::string> TracepointNames(std::string_view section);

}  // namespace profiler::perf_data
