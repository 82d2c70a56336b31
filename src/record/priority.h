// The recorder goes before those that it records: on a machine whose every CPU has hundreds of
// busy threads it would otherwise wait for seconds to attach to them, and then for its rings to
// overflow.

#pragma once

namespace profiler::record {

// Puts this process before all ordinary ones, where it has the right to (CAP_SYS_NICE) and nobody
// has set a priority for it; children start as ordinary ones. Until Settle() it is a real-time one
// (SCHED_RR, the lowest of them), for to attach is a few hundred milliseconds of work that must not
// wait its turn between each two steps; then, and where that is refused, it has the highest of the
// ordinary priorities. Undone when it goes. One at a time; one thread. Source: sched(7).
class RaisedPriority {
 public:
  RaisedPriority();
  ~RaisedPriority();
  RaisedPriority(const RaisedPriority&) = delete;
  RaisedPriority& operator=(const RaisedPriority&) = delete;

  // Leaves real time, in which it would also interrupt its targets where another CPU is idle; but
  // not where so many threads want each CPU that the highest ordinary priority is too small a
  // share.
  void Settle();

 private:
  void LeaveRealTime();

  bool raised_ = false;
  bool real_time_ = false;
};

}  // namespace profiler::record
