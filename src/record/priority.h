// How urgently the recorder runs, compared with what it records.
//
// Mostly it runs as any other program: what it takes from its targets is then theirs to lose as to
// anybody, and a ring holds what comes while it waits for a CPU. Where it unwinds stacks that is
// not enough. The ring then gets some kilobytes a sample, and each is work: on a machine whose
// every CPU is busy, an ordinary recorder lost up to 4 % of 10 000 samples a second, and one of
// nice -20 none.

#pragma once

#include <string>

#include "absl/status/status.h"

namespace profiler::record {

// The priority of this process, which starts children as ordinary ones. What was changed is undone
// when it goes. One at a time; one thread. Source: sched(7).
class RaisedPriority {
 public:
  RaisedPriority() = default;
  ~RaisedPriority();
  RaisedPriority(const RaisedPriority&) = delete;
  RaisedPriority& operator=(const RaisedPriority&) = delete;

  // SCHED_FIFO with this priority, from 1 to 99: before all that is not real time.
  // kPermissionDenied where the kernel does not let us (CAP_SYS_NICE, RLIMIT_RTPRIO), with what
  // would help.
  absl::Status SetRealTime(int priority);
  // The highest of the ordinary priorities, where we have the right to (CAP_SYS_NICE) and nobody
  // has set another one.
  void RaiseNice();

 private:
  bool real_time_ = false;
  bool nice_ = false;
};

// "nice -20", "SCHED_FIFO 10"; empty for a process like any other.
std::string PriorityInWords();

}  // namespace profiler::record
