// Opens the events of one recording, one per (attr, thread, CPU), and redirects them into one ring
// per CPU.
//
//              CPU 0                 CPU 1
//   thread 7   attr 0 ═ ring         attr 0 ═ ring       owns the ring: mapped from its descriptor
//              attr 1 ──┤            attr 1 ──┤          PERF_EVENT_IOC_SET_OUTPUT into it
//   thread 8   attr 0 ──┤            attr 0 ──┤
//              attr 1 ──┘            attr 1 ──┘
//
// A group contains events of one thread on one CPU. The first attr is alone in its group, because
// it owns the rings.
//
// An inherited event for all CPUs (cpu = -1) cannot be mapped, hence one event per CPU. When the
// owner's thread exits, its descriptor hangs up. The ring lives on, because its mapping keeps it,
// and the other events still write to it.
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
  // [i]: the index of the attr that leads the group of attrs[i]; it is i or less. Empty if there
  // are no groups.
  std::vector<size_t> leaders;
  // [i]: the CPUs on which attrs[i] counts; an empty list means all CPUs. Empty if every attr
  // counts on all CPUs.
  std::vector<std::vector<int>> attr_cpus;
  // [i]: the filter of the records of attrs[i], a tracepoint; an empty string accepts all records.
  // Empty if there are no filters.
  std::vector<std::string> filters;
  // [i], used only with `system_wide`: the descriptor of a cgroup; attrs[i] counts only its
  // threads. -1: attrs[i] counts all threads. Empty if there are no cgroups. Create needs the
  // descriptors only until it returns.
  std::vector<int> cgroups;
  std::vector<int> cpus;     // online CPUs to record on
  bool system_wide = false;  // true: pid −1 on each CPU; false: AddThread adds the threads
  size_t ring_pages = 128;   // data pages per ring, a power of two
  // If the kernel's limits refuse a ring of ring_pages, the set tries half as many pages, and so
  // on, but never fewer than min_ring_pages. 0: never tries fewer.
  size_t min_ring_pages = 0;
  // Number of threads that will be added, 0 if not known. It decides how far the limit on
  // descriptors is raised, and is shown in the message if that fails.
  size_t expected_threads = 0;
};

// A set of opened events, to be used by one thread. Holds one descriptor per event; the destructor
// closes all of them.
class EventSet {
 public:
  struct Ring {
    int cpu = 0;
    int fd = -1;  // owner of the ring; epoll watches it
    std::unique_ptr<MappedRing> memory;
  };
  // An opened event and its id, which samples carry.
  struct OpenedEvent {
    size_t attr = 0;
    pid_t tid = -1;
    int cpu = 0;
    uint64_t id = 0;
  };

  // With `system_wide`, opens and maps everything; otherwise opens nothing yet. `kernel` must
  // outlive the set. Errors: kInvalidArgument if there are no attrs or no CPUs, or if ring_pages is
  // not a power of two; with `system_wide` also the errors of AddThread.
  static absl::StatusOr<std::unique_ptr<EventSet>> Create(Kernel& kernel, EventSetOptions options);
  virtual ~EventSet() = default;

  // Opens every attr for `tid` on every CPU; the first thread's events own the rings. Skips a CPU
  // that is offline (ENODEV). About 10 µs per event.
  //
  // On an error the set is unchanged and nothing of this thread stays open. ErrnoOf is one of:
  //   ESRCH (kNotFound)            the thread is gone
  //   EMFILE (kResourceExhausted)  too few descriptors, and their limit cannot be raised further
  //   EPERM, ENOMEM                the ring cannot be mapped, even at min_ring_pages; the message
  //                                names the sysctl and its present value
  //   ENODEV                       every CPU is offline
  //   others                       the errno of perf_event_open, without a remedy
  virtual absl::Status AddThread(pid_t tid) = 0;

  // Returns one ring for each CPU that has events, in the order of creation. The first AddThread
  // creates all rings. A later AddThread creates rings only for CPUs that have come online since.
  virtual const std::vector<Ring>& rings() const = 0;
  // Returns all events opened so far. AddThread appends to them.
  virtual const std::vector<OpenedEvent>& events() const = 0;
  // Returns the data pages of the smallest ring: ring_pages, or fewer if the limits required it.
  virtual size_t ring_pages() const = 0;
  // Returns the requested CPUs that were offline at least once, in the order of the options.
  virtual std::vector<int> offline_cpus() const = 0;

  // Returns another descriptor to watch after rings()[ring].fd has hung up. Any event that feeds
  // the ring can be watched, because the kernel wakes all of them. Each call returns a descriptor
  // of the next thread, in the order of AddThread, and -1 if there is none (yet). The set owns the
  // descriptor.
  virtual int NextWatch(size_t ring) = 0;

  // Returns CLOCK_MONOTONIC in nanoseconds, read from the kernel that the events were opened on.
  virtual uint64_t MonotonicNow() = 0;

  // Opens an event of all threads for each ring, which writes into that ring. A BPF program writes
  // its records by such events. The set owns the descriptors, and events() does not list them.
  struct Output {
    int cpu = 0;
    int fd = -1;
    uint64_t id = 0;
  };
  virtual absl::StatusOr<std::vector<Output>> OpenOutputs(const perf_event_attr& attr) = 0;

  // Runs a BPF program at each sample of the events of that attr that are open now, and of events
  // that new threads inherit from them. Stops at the first error.
  virtual absl::Status SetProgram(size_t attr, int program) = 0;

  // Enables or disables all events of that attr. If one event fails, the others are still tried;
  // the first error is returned.
  virtual absl::Status Enable(size_t attr) = 0;
  virtual absl::Status Disable(size_t attr) = 0;
};

}  // namespace profiler::ringbuf
