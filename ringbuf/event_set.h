// The events of one recording: every (attr, thread, CPU), redirected into one ring a CPU.

#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ringbuf/kernel.h"
#include "src/base/status.h"

namespace profiler::ringbuf {

struct EventSetOptions {
  std::vector<perf_event_attr> attrs;  // in the order of the recording's events
  std::vector<int> cpus;               // online CPUs to record on
  bool system_wide = false;  // pid −1 on each CPU; otherwise AddThread brings the targets
  size_t ring_pages = 128;   // data pages a CPU, a power of two
};

// One thread only.
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

  // With `system_wide`, opens and maps everything; otherwise nothing is open yet.
  static absl::StatusOr<std::unique_ptr<EventSet>> Create(Kernel& kernel, EventSetOptions options);
  virtual ~EventSet() = default;

  // Opens every attr for `tid` on every CPU; the first thread's events own the rings. ESRCH
  // (kNotFound) when the thread is gone: nothing of it stays open. A limit or right that is missing
  // leaves the set as it was.
  virtual absl::Status AddThread(pid_t tid) = 0;
  virtual const std::vector<Ring>& rings() const = 0;
  virtual const std::vector<OpenedEvent>& events() const = 0;  // grows with AddThread
  virtual absl::Status Enable(size_t attr) = 0;                // all events of that attr
  virtual absl::Status Disable(size_t attr) = 0;
};

}  // namespace profiler::ringbuf
