// Counters that are open: every event at every place where it is counted.
//
//              place 0: thread 7        place 1: thread 8        or, of the whole system, CPU 0 …
//   {event 0   ● leader                 ● leader                 read(2) of a leader brings its
//    event 1}  ●┘                       ●┘                       whole group
//    event 2   ●                        ●
//
// A counter that has to share the hardware with others runs a part of the time that it was enabled
// for. What it would have counted is value · enabled / running, a guess that is shown as one.
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
  size_t leader = 0;      // of its group, by place in the list; its own where it stands alone
  bool weak = false;      // the group may be given up: its events are then counted each on its own
  std::string filter;     // of a tracepoint's records; empty: all
  int cgroup = -1;        // open: whose threads alone count; -1: all
  std::vector<int> cpus;  // where a PMU counts for several CPUs; empty: everywhere
};

struct CounterPlace {
  pid_t tid = -1;  // −1: all that run on `cpu`
  int cpu = -1;    // −1: wherever `tid` runs
};

struct Count {
  uint64_t value = 0;
  uint64_t enabled = 0;  // nanoseconds
  uint64_t running = 0;  // nanoseconds of these in which it counted

  Count& operator+=(const Count& other);
  Count operator-(const Count& before) const;
  // `value` as if it had counted all the time; 0 where it never did.
  double scaled() const;
  bool is_guess() const { return running < enabled; }
};

// One thread only. Closes its descriptors when it goes.
class CounterSet {
 public:
  virtual ~CounterSet() = default;

  // Opens all, disabled or enabled on exec as their attrs say. What this machine cannot count
  // (ENOENT, ENODEV, EOPNOTSUPP, ENXIO) is left out and told by is_supported; threads that are gone
  // are left out too. Where the kernel may not be counted, attrs become user-only as long as that
  // was not asked about; excludes_kernel() tells. `kernel` must outlive the set. Errors: those of
  // perf_event_open(2) otherwise, with a remedy; kNotFound (ESRCH) where every thread is gone.
  static absl::StatusOr<std::unique_ptr<CounterSet>> Open(ringbuf::Kernel& kernel,
                                                          std::vector<CounterEvent> events,
                                                          std::vector<CounterPlace> places);

  virtual bool is_supported(size_t event) const = 0;
  // Whether the event counts user space alone for want of rights.
  virtual bool excludes_kernel(size_t event) const = 0;

  virtual absl::Status Enable() = 0;
  virtual absl::Status Disable() = 0;

  // Since they were opened: [event · places + place]. Places where an event is not counted have
  // zeroes. One system call a group and place.
  virtual absl::StatusOr<std::vector<Count>> Read() const = 0;
};

}  // namespace profiler::count
