// A kernel in memory for tests. Its descriptors are real, so a real epoll can watch them; its rings
// are on the heap.
//
// Each event is the read end of a pipe. A wake-up of a ring writes one byte into the pipe of every
// event that feeds the ring, as perf_event_wakeup wakes the waiters of each. A hang-up closes the
// write end, so that poll reports POLLHUP for ever.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ringbuf/kernel.h"
#include "ringbuf/testing/fake_ring.h"

namespace profiler::ringbuf {

// A fake kernel, to be used by one thread. Must outlive the descriptors and rings that it returned.
class FakeKernel final : public Kernel {
 public:
  enum class Call {
    kOpenEvent,
    kEventId,
    kSetOutput,
    kEnable,
    kDisable,
    kMapRing,
    kReadCounter,
    kSetFilter,
    kSetProgram
  };
  static constexpr size_t kCalls = 9;
  static constexpr size_t kPageSize = 4096;

  // ---- failures

  // Makes a later call of that kind fail with `error`: the next call if `nth` is 1. The calls after
  // the failed one succeed.
  void FailCall(Call call, uint64_t nth, int error);
  // Makes OpenEvent always fail with `error`, as under a system call filter.
  void FilterCalls(int error) { filter_error_ = error; }
  // Makes OpenEvent for the thread fail with ESRCH.
  void SetThreadGone(pid_t tid) { gone_.insert(tid); }
  // Makes OpenEvent on the CPU fail with ENODEV; if `offline` is false, makes it succeed again.
  void SetOffline(int cpu, bool offline = true);
  // Makes MapRing of more than `data_pages` fail with EPERM.
  void SetLargestRing(size_t data_pages) { largest_ring_ = data_pages; }
  void SetRingMemoryLimitKib(uint64_t kib) { ring_memory_limit_kib_ = kib; }
  // Sets the limits on descriptors. Only open events count towards the soft limit (EMFILE).
  void SetFileLimit(uint64_t soft, uint64_t hard);
  // Sets the initial head and tail of rings that are mapped from now on.
  void SetRingStart(uint64_t position) { ring_start_ = position; }

  // ---- what happens

  // Writes `record` into the ring of `cpu` (see FakeRing::Publish) and wakes the ring's readers.
  bool Publish(int cpu, std::span<const std::byte> record);
  // Like Publish, but below the wake-up watermark: wakes nobody.
  bool PublishQuietly(int cpu, std::span<const std::byte> record);
  // Wakes the readers of the ring of `cpu`.
  void Wake(int cpu);
  // Clears the readiness of all descriptors, as every poll does.
  void ConsumeReadiness();
  // Lets the thread exit: its events hang up for ever and are no longer woken.
  void HangUp(pid_t tid);
  // Values of a counter. Reads of counters whose config was given to SetCounter return these
  // values. Reading a group returns its members' values with the leader's times.
  struct Counter {
    uint64_t value = 0, enabled = 0, running = 0;
  };
  void SetCounter(uint64_t config, Counter counter) { counters_[config] = counter; }
  void AdvanceClock(uint64_t nanoseconds) { now_ += nanoseconds; }

  // ---- state

  // Returns the mapped ring of that CPU, which must exist.
  FakeRing& ring(int cpu);
  bool has_ring(int cpu) const;
  uint64_t calls(Call call) const { return calls_[static_cast<size_t>(call)].count; }
  size_t open_events() const;
  // Returns the open events, one per line in the order of their ids:
  //   "id 3: tid 7 config 9 enabled -> ring of cpu 0", or "owns the ring", "no ring on cpu 0"
  std::string Describe() const;

  // ---- Kernel. SetOutput fails, as in the kernel, if the other event is on another CPU, has no
  // ring or uses another clock. MapRing fails for an inherited event of all CPUs.

  using Kernel::OpenEvent;
  absl::StatusOr<UniqueFd> OpenEvent(const perf_event_attr& attr, pid_t pid, int cpu, int group_fd,
                                     unsigned long flags) override;
  absl::Status SetFilter(int fd, const std::string& filter) override;
  absl::Status SetProgram(int fd, int program) override;
  absl::StatusOr<uint64_t> EventId(int fd) override;
  absl::Status SetOutput(int fd, int ring_fd) override;
  absl::Status Enable(int fd) override;
  absl::Status Disable(int fd) override;
  absl::StatusOr<size_t> ReadCounter(int fd, std::span<std::byte> buffer) override;
  absl::StatusOr<std::unique_ptr<MappedRing>> MapRing(int fd, size_t data_pages) override;
  uint64_t MonotonicNow() override { return now_; }
  uint64_t FileLimit() override { return soft_file_limit_; }
  uint64_t RaiseFileLimit(uint64_t wanted) override;
  uint64_t RingMemoryLimitKib() override { return ring_memory_limit_kib_; }

 private:
  struct Event {
    perf_event_attr attr{};
    pid_t pid = 0;
    int cpu = 0;
    int group_fd = -1;
    bool is_of_cgroup = false;  // `pid` is the cgroup's descriptor
    std::string filter;
    int program = -1;  // -1: none
    uint64_t id = 0;
    bool enabled = false;
    bool owns_ring = false;
    bool woken = false;  // the pipe contains a byte
    std::weak_ptr<FakeRing> ring;
    UniqueFd signal;  // write end of the pipe; invalid after a hang-up
    ino_t pipe = 0;
  };
  struct CallState {
    uint64_t count = 0;
    std::map<uint64_t, int> failures;  // number of the call → errno
  };

  // Counts the call. Returns the errno that it must fail with, or 0.
  int Begin(Call call);
  // Returns the event behind a descriptor, nullptr if there is none.
  Event* Find(int fd);
  static void Consume(int fd, Event& event);
  // Returns " in the group of ID"; empty for a leader.
  std::string GroupOf(const Event& event) const;
  // True if `fd` is still the pipe of `event`, and not a later file with the same number.
  bool IsOpen(int fd, const Event& event) const;

  int filter_error_ = 0;  // 0: no filter
  // Keyed by descriptor. A closed event stays until its descriptor's number is reused.
  std::map<int, Event> events_;
  // Keyed by CPU.
  std::map<int, std::weak_ptr<FakeRing>> rings_;
  std::array<CallState, kCalls> calls_;
  // Keyed by perf_event_attr::config.
  std::map<uint64_t, Counter> counters_;
  std::set<pid_t> gone_;
  std::set<int> offline_;
  size_t largest_ring_ = SIZE_MAX;
  uint64_t ring_memory_limit_kib_ = 516;
  uint64_t soft_file_limit_ = UINT64_MAX;
  uint64_t hard_file_limit_ = UINT64_MAX;
  uint64_t ring_start_ = 0;
  uint64_t next_id_ = 1;
  uint64_t now_ = 1'000'000'000;
};

}  // namespace profiler::ringbuf
