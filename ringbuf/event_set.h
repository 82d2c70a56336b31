// The events of one recording: every (attr, thread, CPU), redirected into one ring a CPU.
//
//              CPU 0                 CPU 1
//   thread 7   attr 0 ═ ring         attr 0 ═ ring       owns the ring: mapped from its descriptor
//              attr 1 ──┤            attr 1 ──┤          PERF_EVENT_IOC_SET_OUTPUT into it
//   thread 8   attr 0 ──┤            attr 0 ──┤
//              attr 1 ──┘            attr 1 ──┘
//
// Groups are those of one thread on one CPU. The first attr is alone in its own: it owns rings.
//
// One event for all CPUs (cpu = -1) that is inherited cannot be mapped, hence one event a CPU. When
// the owner's thread exits its descriptor hangs up, but the ring lives on: it is kept by its
// mapping, and the other events go on writing to it.
//
// Source: perf_event_open(2); perf_mmap and perf_event_set_output in kernel/events/core.c, 6.18.

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

namespace profiler::ringbuf {

struct EventSetOptions {
  std::vector<perf_event_attr> attrs;  // in the order of the recording's events
  // By attr, where there are groups: which attr leads its own, an earlier one or itself.
  std::vector<size_t> leaders;
  // By attr, where some are counted on some CPUs alone: which these are; none: all.
  std::vector<std::vector<int>> attr_cpus;
  // By attr, where there are any: which records of a tracepoint count; empty: all.
  std::vector<std::string> filters;
  // By attr, where there are any: with `system_wide`, the descriptor of a cgroup whose threads
  // alone count; -1: all. Not needed any longer than Create takes.
  std::vector<int> cgroups;
  std::vector<int> cpus;     // online CPUs to record on
  bool system_wide = false;  // pid −1 on each CPU; otherwise AddThread brings the targets
  size_t ring_pages = 128;   // data pages a CPU, a power of two
  // Where the limits refuse ring_pages, halves it as far down as this. 0: does not.
  size_t min_ring_pages = 0;
  // How many threads are going to be added, if known: for the limit on descriptors and what is said
  // about it.
  size_t expected_threads = 0;
};

// One thread only. Holds one descriptor an event; closes them all when it goes.
class EventSet {
 public:
  struct Ring {
    int cpu = 0;
    int fd = -1;  // owner of the ring: what epoll watches
    std::unique_ptr<MappedRing> memory;
  };
  // An event's id as samples carry it.
  struct OpenedEvent {
    size_t attr = 0;
    pid_t tid = -1;
    int cpu = 0;
    uint64_t id = 0;
  };

  // With `system_wide`, opens and maps everything; otherwise nothing is open yet. `kernel` must
  // outlive the set. Errors: kInvalidArgument for no attrs, no CPUs or ring_pages that is not a
  // power of two; with `system_wide` those of AddThread.
  static absl::StatusOr<std::unique_ptr<EventSet>> Create(Kernel& kernel, EventSetOptions options);
  virtual ~EventSet() = default;

  // Opens every attr for `tid` on every CPU; the first thread's events own the rings. A CPU that is
  // offline (ENODEV) is left out. About 10 µs an event.
  //
  // On an error the set is as it was, nothing of this thread stays open, and ErrnoOf tells:
  //   ESRCH (kNotFound)            the thread is gone
  //   EMFILE (kResourceExhausted)  too few descriptors, after the limit was raised as far as it
  //   goes EPERM, ENOMEM                the ring cannot be mapped, even at min_ring_pages; the
  //   message
  //                                names the sysctl and its present value
  //   ENODEV                       every CPU is offline
  //   others                       as perf_event_open gave them, without a remedy
  virtual absl::Status AddThread(pid_t tid) = 0;

  // One for each CPU that has events, in the order they came up. Grows only with AddThread; its
  // first call brings all of them, but for CPUs that come online later.
  virtual const std::vector<Ring>& rings() const = 0;
  virtual const std::vector<OpenedEvent>& events() const = 0;  // grows with AddThread
  // Data pages of a ring: what was asked for, or what the limits allowed (the least of all rings).
  virtual size_t ring_pages() const = 0;
  // CPUs that were asked for and found offline at least once, in the order of the options.
  virtual std::vector<int> offline_cpus() const = 0;

  // Another descriptor to watch in place of rings()[ring].fd, once that has hung up: the kernel
  // wakes every event that feeds a ring. Each thread's is given once, in the order of AddThread; -1
  // when there is none (yet). It belongs to the set.
  virtual int NextWatch(size_t ring) = 0;

  // CLOCK_MONOTONIC in nanoseconds, as the kernel has it that the events were opened on.
  virtual uint64_t MonotonicNow() = 0;

  // All events of that attr, also when one of them fails; the first error.
  virtual absl::Status Enable(size_t attr) = 0;
  virtual absl::Status Disable(size_t attr) = 0;
};

}  // namespace profiler::ringbuf
