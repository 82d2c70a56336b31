// The scheduling priority of the recorder.
//
// Without unwinding, the recorder runs at normal priority. Its targets then lose no more CPU time
// to it than to any other program. The rings hold the records that arrive while it waits for a CPU.
// That is not enough if it unwinds stacks. Each sample then takes some kilobytes of a ring and some
// time to process. If every CPU of a machine was busy, a recorder at normal priority lost up to 4 %
// of 10 000 samples per second. A recorder at nice -20 lost none.

#pragma once

#include <string>

#include "absl/status/status.h"

namespace profiler::record {

// The raised priority of this process. Children start with normal priority. The destructor undoes
// the change. At most one object at a time; use it from one thread. Source: sched(7).
class RaisedPriority {
 public:
  RaisedPriority() = default;
  ~RaisedPriority();
  RaisedPriority(const RaisedPriority&) = delete;
  RaisedPriority& operator=(const RaisedPriority&) = delete;

  // Sets SCHED_FIFO with this priority, from 1 to 99: the process then runs before all processes
  // that are not real-time. Returns kPermissionDenied, with a remedy, if the kernel refuses
  // (CAP_SYS_NICE, RLIMIT_RTPRIO).
  absl::Status SetRealTime(int priority);
  // Sets the highest normal priority, if we may (CAP_SYS_NICE) and the priority is still normal.
  void RaiseNice();

 private:
  bool real_time_ = false;
  bool nice_ = false;
};

// Returns this process's priority, such as "nice -20" or "SCHED_FIFO 10"; empty for normal
// priority.
std::string PriorityInWords();

}  // namespace profiler::record
