// Opens the events on threads that already run, while they go on starting others.
//
// A thread that an attached one starts inherits its events; any other has to be attached. Both turn
// up in /proc/PID/task, and only the inherited have a FORK record, for the sideband event is
// already on:
//
//   scan ─► attach each new tid ─► scan again ─► those with a FORK record follow by themselves,
//    ▲                                           the others are attached
//    └───────────────────────────────────────── until a scan brings none
//
// Of a tree of processes the same is done with processes: those that were started by one which was
// not attached yet are found when the others are.
//
// What remains: a thread that is started in the microseconds in which its parent's events are being
// opened inherits those that are open by then.

#pragma once

#include <sys/types.h>

#include <vector>

#include "ringbuf/event_set.h"
#include "src/base/status.h"
#include "src/procfs/proc_file.h"
#include "src/target/targets.h"

namespace profiler::record {

// `inherit`: what an attached thread starts has its events. Reads the rings and leaves their bytes
// where they are. Threads that exit meanwhile are left out. Gives the processes of `targets.trees`
// that were attached and are not in `targets.pids`. kNotFound when a process is gone at the start,
// or when nothing is left to record. Errors of EventSet::AddThread as they are.
absl::StatusOr<std::vector<pid_t>> AttachThreads(const procfs::Roots& roots,
                                                 const target::Targets& targets, bool inherit,
                                                 ringbuf::EventSet& events);

}  // namespace profiler::record
