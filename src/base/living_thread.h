// Finds a thread through which the files and memory of a process can be read after its first thread
// has ended.
//
// The kernel answers for a process through its first thread. After that has ended, /proc/PID/maps,
// root, exe and map_files are empty, and process_vm_readv(2) and perf_event_open(2) fail with
// ESRCH, although other threads run on. But /proc/TID, with the number of a thread that runs, still
// has everything.

#pragma once

#include <cstdint>
#include <string>

namespace profiler {

// Returns `pid` if its first thread runs, otherwise the number of a thread that does. Returns `pid`
// also if no thread runs, or if the process may not be read. `proc` is the path of /proc. Costs one
// system call if the first thread runs.
uint32_t LivingThreadOf(const std::string& proc, uint32_t pid);

}  // namespace profiler
