// The system-call boundary: everything that the recorder asks of the kernel about events and rings,
// so that tests put a FakeKernel in its place while epoll, descriptors and io_context stay real.
//
// Source: perf_event_open(2); kernel/events/core.c, Linux 6.18.

#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ringbuf/ring_view.h"
#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler::ringbuf {

// A mapped ring; unmaps when it goes. Outlives the closing of the descriptor it was mapped from.
class MappedRing {
 public:
  virtual ~MappedRing() = default;
  virtual RingView& view() = 0;
};

class Kernel {
 public:
  virtual ~Kernel() = default;

  // perf_event_open(2) with `flags` and PERF_FLAG_FD_CLOEXEC. `attr` points to attr.size bytes,
  // which may be more than this build's struct. Errors carry the errno (ErrnoOf) and no remedy: the
  // caller knows what was asked for.
  virtual absl::StatusOr<UniqueFd> OpenEvent(const perf_event_attr& attr, pid_t pid, int cpu,
                                             int group_fd, unsigned long flags) = 0;
  absl::StatusOr<UniqueFd> OpenEvent(const perf_event_attr& attr, pid_t pid, int cpu,
                                     int group_fd) {
    return OpenEvent(attr, pid, cpu, group_fd, 0);
  }
  // PERF_EVENT_IOC_SET_FILTER: of a tracepoint, which of its records count.
  virtual absl::Status SetFilter(int fd, const std::string& filter) = 0;
  virtual absl::StatusOr<uint64_t> EventId(int fd) = 0;     // PERF_EVENT_IOC_ID
  virtual absl::Status SetOutput(int fd, int ring_fd) = 0;  // PERF_EVENT_IOC_SET_OUTPUT
  virtual absl::Status Enable(int fd) = 0;                  // PERF_EVENT_IOC_ENABLE
  virtual absl::Status Disable(int fd) = 0;                 // PERF_EVENT_IOC_DISABLE
  // read(2) of a counter: the bytes that it brought, as attr.read_format lays them out.
  virtual absl::StatusOr<size_t> ReadCounter(int fd, std::span<std::byte> buffer) = 0;
  // Maps 1 + data_pages pages; data_pages is a power of two. EPERM: over the limit of locked
  // memory.
  virtual absl::StatusOr<std::unique_ptr<MappedRing>> MapRing(int fd, size_t data_pages) = 0;
  // CLOCK_MONOTONIC in nanoseconds.
  virtual uint64_t MonotonicNow() = 0;

  // How many descriptors this process may have open (the soft RLIMIT_NOFILE).
  virtual uint64_t FileLimit() = 0;
  // Raises that limit to `wanted`, or as far towards it as the hard limit and, beyond that, the
  // caller's rights allow; never lowers it. Returns the limit that is now in force.
  virtual uint64_t RaiseFileLimit(uint64_t wanted) = 0;
  // The sysctl kernel.perf_event_mlock_kb: KiB of ring a CPU that each user may map. 0 when it
  // cannot be read.
  virtual uint64_t RingMemoryLimitKib() = 0;
};

// The real one. Stateless and thread-safe; one is enough.
Kernel& LinuxKernel();

}  // namespace profiler::ringbuf
