// Reads the names of tracepoints from a TRACING_DATA section.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"

namespace profiler::perf_data {

// Returns names such as "sched:sched_switch", keyed by the id in the tracepoint's format file. If
// the section is cut short, returns the names before the cut. Costs one pass over the section.
// Thread-safe.
absl::flat_hash_map<uint64_t, std::string> TracepointNames(std::string_view section);

}  // namespace profiler::perf_data
