// The system-call boundary: everything that the recorder asks of the kernel about events and rings,
// so that tests put a FakeKernel in its place while epoll, eventfds and io_context stay real.

#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "ringbuf/ring_view.h"
#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler::ringbuf {

// A mapped ring; unmaps when it goes.
class MappedRing {
 public:
  virtual ~MappedRing() = default;
  virtual RingView& view() = 0;
};

class Kernel {
 public:
  virtual ~Kernel() = default;

  // perf_event_open(2) with PERF_FLAG_FD_CLOEXEC. `attr` points to attr->size bytes. Errors carry
  // the errno (ErrnoOf) and no remedy: the caller knows what was asked for.
  virtual absl::StatusOr<UniqueFd> OpenEvent(const perf_event_attr& attr, pid_t pid, int cpu,
                                             int group_fd) = 0;
  virtual absl::StatusOr<uint64_t> EventId(int fd) = 0;     // PERF_EVENT_IOC_ID
  virtual absl::Status SetOutput(int fd, int ring_fd) = 0;  // PERF_EVENT_IOC_SET_OUTPUT
  virtual absl::Status Enable(int fd) = 0;                  // PERF_EVENT_IOC_ENABLE
  virtual absl::Status Disable(int fd) = 0;                 // PERF_EVENT_IOC_DISABLE
  // Maps 1 + data_pages pages; data_pages is a power of two.
  virtual absl::StatusOr<std::unique_ptr<MappedRing>> MapRing(int fd, size_t data_pages) = 0;
  // CLOCK_MONOTONIC in nanoseconds.
  virtual uint64_t MonotonicNow() = 0;
};

// The real one. Stateless; one is enough.
Kernel& LinuxKernel();

}  // namespace profiler::ringbuf
