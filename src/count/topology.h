// Groups CPUs by core, socket and memory node.

#pragma once

#include <string>
#include <vector>

#include "src/machine/procfs/proc_file.h"

namespace profiler::count {

// How counts are summed up: over everything, or for each CPU, core, socket, node or thread.
enum class Aggregation { kAll, kCpu, kCore, kSocket, kNode, kThread };

// Returns the name of the CPU's core, socket or node, as perf prints it: "S0-D0-C3", "S0", "N1";
// "CPU3" for kCpu. Numbers that sysfs does not have count as 0.
std::string PlaceName(const procfs::Roots& roots, Aggregation aggregation, int cpu);

}  // namespace profiler::count
