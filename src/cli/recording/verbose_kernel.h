// -vv of record and stat: prints the events that the kernel is asked to open, like perf's -vv:
//
//   ------------------------------------------------------------
//   perf_event_attr:
//     type                             1 (PERF_TYPE_SOFTWARE)
//     …                                                  every field that is not zero
//   ------------------------------------------------------------
//   sys_perf_event_open: pid 712  cpu 0  group_fd -1  flags 0x8 = 5
//   sys_perf_event_open: pid 712  cpu 1  group_fd -1  flags 0x8 = 6
//
// An attr may be printed twice, because a recording first tries each event, and then opens it for
// all CPUs and threads.
//
// Source: sys_perf_event_open in tools/perf/util/evsel.c, as perf 7.2 prints.

#pragma once

#include <functional>
#include <string>

#include "ringbuf/kernel.h"

namespace profiler::cli {

// A kernel that prints the events to open, and passes all calls to another kernel, which must
// outlive this one. `print` gets whole lines. Thread-safe if the other kernel and `print` are.
class VerboseKernel final : public ringbuf::Kernel {
 public:
  VerboseKernel(ringbuf::Kernel& kernel, std::function<void(const std::string&)> print)
      : kernel_(kernel), print_(std::move(print)) {}

  using Kernel::OpenEvent;
  absl::StatusOr<UniqueFd> OpenEvent(const perf_event_attr& attr, pid_t pid, int cpu, int group_fd,
                                     unsigned long flags) override;

  absl::Status SetFilter(int fd, const std::string& filter) override {
    return kernel_.SetFilter(fd, filter);
  }
  absl::Status SetProgram(int fd, int program) override { return kernel_.SetProgram(fd, program); }
  absl::StatusOr<uint64_t> EventId(int fd) override { return kernel_.EventId(fd); }
  absl::Status SetOutput(int fd, int ring_fd) override { return kernel_.SetOutput(fd, ring_fd); }
  absl::Status Enable(int fd) override { return kernel_.Enable(fd); }
  absl::Status Disable(int fd) override { return kernel_.Disable(fd); }
  absl::StatusOr<size_t> ReadCounter(int fd, std::span<std::byte> buffer) override {
    return kernel_.ReadCounter(fd, buffer);
  }
  absl::StatusOr<std::unique_ptr<ringbuf::MappedRing>> MapRing(int fd, size_t pages) override {
    return kernel_.MapRing(fd, pages);
  }
  uint64_t MonotonicNow() override { return kernel_.MonotonicNow(); }
  uint64_t FileLimit() override { return kernel_.FileLimit(); }
  uint64_t RaiseFileLimit(uint64_t wanted) override { return kernel_.RaiseFileLimit(wanted); }
  uint64_t RingMemoryLimitKib() override { return kernel_.RingMemoryLimitKib(); }

 private:
  ringbuf::Kernel& kernel_;
  const std::function<void(const std::string&)> print_;
  std::string last_attr_;  // the last printed attr
};

}  // namespace profiler::cli
