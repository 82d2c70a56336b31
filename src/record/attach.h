// Opens the events on threads that already run, while these threads go on starting others.
//
// A thread that an attached thread starts inherits the events; every other thread has to be
// attached. Both kinds turn up in /proc/PID/task. A FORK record tells them apart: the sideband
// event is already enabled, so the kernel writes one for each thread that inherits.
//
//   scan ─► attach each new tid ─► scan again ─► tid with a FORK record: it has the events
//    ▲                                      └──► other new tid: attach it
//    └────────────────────────────────────────── until a scan finds no new tid
//
// Trees of processes are attached in the same way, process by process: a scan also finds processes
// that their parent started before the parent was attached.
//
// One gap remains: a thread started in the microseconds in which its parent's events are being
// opened inherits only the events that are already open.

#pragma once

#include <sys/types.h>

#include <vector>

#include "ringbuf/event_set.h"
#include "src/base/status.h"
#include "src/machine/procfs/proc_file.h"
#include "src/machine/target/targets.h"

namespace profiler::record {

// Attaches `events` to all threads of `targets`. `inherit`: threads started by an attached thread
// inherit its events. Reads the rings without consuming their bytes. Skips threads that exit
// meanwhile. Returns the processes of `targets.trees` that were attached and are not in
// `targets.pids`.
//
// Returns kNotFound if a process is gone at the start, or if nothing is left to record. Passes on
// the errors of EventSet::AddThread.
absl::StatusOr<std::vector<pid_t>> AttachThreads(const procfs::Roots& roots,
                                                 const target::Targets& targets, bool inherit,
                                                 ringbuf::EventSet& events);

}  // namespace profiler::record
