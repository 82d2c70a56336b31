// Interface to the system calls that the recorder makes for events and rings. Tests use a
// FakeKernel, while epoll, descriptors and io_context stay real.
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

// A mapped ring; the destructor unmaps it. It stays valid after its descriptor is closed.
class MappedRing {
 public:
  virtual ~MappedRing() = default;
  virtual RingView& view() = 0;
};

class Kernel {
 public:
  virtual ~Kernel() = default;

  // Calls perf_event_open(2) with `flags` and PERF_FLAG_FD_CLOEXEC. `attr` points to attr.size
  // bytes, which may be more than this build's struct. Errors carry the errno (ErrnoOf) and no
  // remedy, because only the caller knows the purpose.
  virtual absl::StatusOr<UniqueFd> OpenEvent(const perf_event_attr& attr, pid_t pid, int cpu,
                                             int group_fd, unsigned long flags) = 0;
  absl::StatusOr<UniqueFd> OpenEvent(const perf_event_attr& attr, pid_t pid, int cpu,
                                     int group_fd) {
    return OpenEvent(attr, pid, cpu, group_fd, 0);
  }
  // True if a system call filter (seccomp) answers perf_event_open(2) instead of the kernel. The
  // kernel refuses unknown flags with EINVAL before it checks anything else (Linux 2.6.31 to 6.18);
  // a filter that denies the call does not know them.
  bool IsCallFiltered();
  // PERF_EVENT_IOC_SET_FILTER: `filter` selects which records of a tracepoint count.
  virtual absl::Status SetFilter(int fd, const std::string& filter) = 0;
  // PERF_EVENT_IOC_SET_BPF: runs a BPF program at each sample of the event, and of events that
  // threads inherit from it later. EEXIST: the event has a program already.
  virtual absl::Status SetProgram(int fd, int program) = 0;
  virtual absl::StatusOr<uint64_t> EventId(int fd) = 0;     // PERF_EVENT_IOC_ID
  virtual absl::Status SetOutput(int fd, int ring_fd) = 0;  // PERF_EVENT_IOC_SET_OUTPUT
  virtual absl::Status Enable(int fd) = 0;                  // PERF_EVENT_IOC_ENABLE
  virtual absl::Status Disable(int fd) = 0;                 // PERF_EVENT_IOC_DISABLE
  // Reads a counter with read(2) into `buffer`, in the layout of attr.read_format. Returns the
  // number of bytes.
  virtual absl::StatusOr<size_t> ReadCounter(int fd, std::span<std::byte> buffer) = 0;
  // Maps 1 + data_pages pages; data_pages is a power of two. EPERM: the limit of locked memory is
  // exceeded.
  virtual absl::StatusOr<std::unique_ptr<MappedRing>> MapRing(int fd, size_t data_pages) = 0;
  // Returns CLOCK_MONOTONIC in nanoseconds.
  virtual uint64_t MonotonicNow() = 0;

  // Returns the number of descriptors that this process may have open (the soft RLIMIT_NOFILE).
  virtual uint64_t FileLimit() = 0;
  // Raises that limit to `wanted`, or only to the hard limit if more needs a capability that is
  // missing. Never lowers the limit. Returns the limit that is now in force.
  virtual uint64_t RaiseFileLimit(uint64_t wanted) = 0;
  // Returns the sysctl kernel.perf_event_mlock_kb: the KiB of ring per CPU that each user may map.
  // 0 if it cannot be read.
  virtual uint64_t RingMemoryLimitKib() = 0;
};

// Returns the real kernel. Stateless and thread-safe.
Kernel& LinuxKernel();

}  // namespace profiler::ringbuf
