// The recorder goes before those that it records: on a machine whose every CPU has hundreds of
// busy threads it would otherwise wait for seconds to attach to them, and then for its rings to
// overflow.

#pragma once

namespace profiler::record {

// Puts this process before all ordinary ones, where it has the right to (CAP_SYS_NICE) and nobody
// has set a priority for it; children start as ordinary ones. It is a real-time one then (SCHED_RR,
// the lowest of them): it sleeps nearly always, and what it has to do must not wait its turn. After
// Settle(), and where real time is refused, it has the highest of the ordinary priorities. Undone
// when it goes. One at a time; one thread. Source: sched(7).
class RaisedPriority {
 public:
  RaisedPriority();
  ~RaisedPriority();
  RaisedPriority(const RaisedPriority&) = delete;
  RaisedPriority& operator=(const RaisedPriority&) = delete;

  void Settle();

 private:
  bool raised_ = false;
  bool real_time_ = false;
};

}  // namespace profiler::record
