// Reaches the files and the memory of a process whose first thread has ended.
//
// The kernel answers for a process by its first thread: /proc/PID/maps, root, exe and map_files are
// empty once that has ended, and process_vm_readv(2) and perf_event_open(2) say ESRCH, although
// other threads run on. By the number of one of those all of it is still there: /proc/TID/maps.

#pragma once

#include <cstdint>
#include <string>

namespace profiler {

// Returns `pid`, or, if its first thread has ended, the number of a thread of it that has not;
// `pid` again if there is none, or if nothing of the process may be read. `proc` is where /proc is.
// Costs one system call for a process whose first thread runs.
uint32_t LivingThreadOf(const std::string& proc, uint32_t pid);

}  // namespace profiler
