// Which CPUs are one core, one socket, one memory node.

#pragma once

#include <string>
#include <vector>

#include "src/procfs/proc_file.h"

namespace profiler::count {

// By what counts are put together.
enum class Aggregation { kAll, kCpu, kCore, kSocket, kNode, kThread };

// What to call the CPU's core, socket or node, as perf does: "S0-D0-C3", "S0", "N1"; "CPU3" for
// kCpu. What sysfs does not say counts as 0.
std::string PlaceName(const procfs::Roots& roots, Aggregation aggregation, int cpu);

}  // namespace profiler::count
