// Opens and reads counters: one for each event at each place.
//
//              place 0: thread 7        place 1: thread 8        or CPU 0, CPU 1 … (system-wide)
//   {event 0   ● leader                 ● leader                 one read(2) of a leader returns
//    event 1}  ●┘                       ●┘                       its whole group
//    event 2   ●                        ●
//
// A counter that shares the hardware with others runs only for part of the time for which it was
// enabled. Its full count is estimated as value · enabled / running, and shown as an estimate.
//
// Source: perf_event_open(2), "Reading results"; perf_read in kernel/events/core.c, Linux 6.18.

#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ringbuf/kernel.h"
#include "src/base/status.h"

namespace profiler::count {

struct CounterEvent {
  perf_event_attr attr{};
  // Index of the group's leader in the list; the event's own index outside a group.
  size_t leader = 0;
  bool weak = false;      // True if the group may be split: its events are then counted separately.
  std::string filter;     // filters a tracepoint's records; empty: all
  int cgroup = -1;        // descriptor of a cgroup, whose threads count; -1: all
  std::vector<int> cpus;  // CPUs on which the event may be opened; empty: all
};

struct CounterPlace {
  pid_t tid = -1;  // −1: all threads that run on `cpu`
  int cpu = -1;    // −1: any CPU that `tid` runs on
};

struct Count {
  uint64_t value = 0;
  uint64_t enabled = 0;  // how long the counter was enabled, in ns
  uint64_t running = 0;  // part of `enabled` in which the event was counted, in ns

  Count& operator+=(const Count& other);
  Count operator-(const Count& before) const;
  // Returns the estimated value for all of `enabled`; 0 if the counter never ran.
  double scaled() const;
  bool is_guess() const { return running < enabled; }
};

// Open counters. Use it from one thread. The destructor closes the descriptors.
class CounterSet {
 public:
  virtual ~CounterSet() = default;

  // Opens all counters, disabled or enabled on exec as their attrs say. `kernel` must outlive the
  // set.
  //
  // Events that this machine cannot count (ENOENT, ENODEV, EOPNOTSUPP, ENXIO) are left out; see
  // is_supported(). Ended threads are left out as well. If we may not count the kernel, events of
  // both user and kernel become user-only; see excludes_kernel().
  //
  // Errors: those of perf_event_open(2), with a remedy; kNotFound (ESRCH) if all threads have
  // ended.
  static absl::StatusOr<std::unique_ptr<CounterSet>> Open(ringbuf::Kernel& kernel,
                                                          std::vector<CounterEvent> events,
                                                          std::vector<CounterPlace> places);

  virtual bool is_supported(size_t event) const = 0;
  // True if the event counts only user space because the rights for the kernel are missing.
  virtual bool excludes_kernel(size_t event) const = 0;

  virtual absl::Status Enable() = 0;
  virtual absl::Status Disable() = 0;

  // Reads the counts since the counters were opened. The count of event e at place p has the index
  // e · (number of places) + p. Counts are zero at places where an event is not counted. Costs one
  // system call per group and place.
  virtual absl::StatusOr<std::vector<Count>> Read() const = 0;
};

}  // namespace profiler::count
