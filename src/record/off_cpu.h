// Follows each thread from one context switch to the next. Knows whether the thread runs, waits for
// a CPU or waits for something else, and the stack with which it waits.
//
//            sample                  SWITCH                         SWITCH
//            (stack)                 out                            in
//   ── runs ────┴───────────────────────┤······ off the CPU ···········├── runs ──▶
//
// The kernel samples a context switch just before the thread leaves its CPU. SWITCH records say
// when the thread left, whether it could have gone on (preempted) or waits for something (blocked),
// and when it came back. So the duration of every thread's every time off the CPU is known to the
// nanosecond, with or without a sampled stack.
//
// If there are too many switches to sample them all, the sampled ones stand for the others of their
// thread. Each thread has a sum of times without a stack, for each kind and each length class.
// (Times of one class differ by less than a factor of four.) When a time of this kind and class has
// a stack, it is reported together with the sum. So the total over a thread's samples is its whole
// time off the CPU. The choice of switches to sample does not depend on how long the time will be.
// So within a length class, the share of each stack is its share of the sampled switches. At the
// end, a remaining sum goes to the last stack of its kind and class; if there was no such stack,
// the sum is reported without one.
//
// Source: __perf_event_task_sched_out and _in, perf_event_switch in kernel/events/core.c, Linux
// 6.18; perf_event_open(2), PERF_RECORD_MISC_SWITCH_OUT_PREEMPT.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace profiler::record {

enum class WaitKind : uint8_t {
  kBlocked,    // waited for something (a lock, data, time), and then perhaps for a CPU
  kPreempted,  // waited only for a CPU
};

// No system call, or an unknown one.
inline constexpr int64_t kNoCall = -1;

// One time off the CPU, or the sum of several.
struct Wait {
  WaitKind kind = WaitKind::kBlocked;
  uint32_t pid = 0, tid = 0;
  uint32_t cpu = 0;
  uint64_t end = 0;       // end of the time, or of the last of several, in ns of the records' clock
  uint64_t duration = 0;  // in ns
  // The call chain of the sample; empty without a sample. Valid during the call.
  std::span<const uint64_t> chain;
  int64_t system_call = kNoCall;  // from SetStack; kNoCall if the stack is a sample's
};

// How one thread spent the recording, in ns. Running, preempted, blocked and unknown add up to the
// thread's life in the recording.
struct ThreadTimes {
  uint32_t pid = 0, tid = 0;
  uint64_t running = 0, preempted = 0, blocked = 0;
  uint64_t unknown = 0;         // before its first record, and around lost records
  uint64_t without_stack = 0;   // part of preempted and blocked, reported without a stack
  uint64_t times_off = 0;       // number of times off the CPU
  uint64_t stacks_sampled = 0;  // number of times off the CPU with a sampled stack
  // Part of preempted and blocked that had no stack, and was added to stacks of other switches.
  uint64_t estimated = 0;
  bool has_ended = false;
};

// The times of all threads. Use it from one thread, in time order. Allocates only for threads and
// longer chains.
class OffCpu {
 public:
  // `on_wait` is called at the end of each time off the CPU.
  explicit OffCpu(std::function<void(const Wait&)> on_wait) : on_wait_(std::move(on_wait)) {}

  // Times count only between Begin and Pause. At other times, only the state of each thread is
  // followed. Records that are older than a Begin or Pause may still arrive after the call.
  void Begin(uint64_t time);
  void Pause(uint64_t time);
  bool has_begun() const { return !counted_.empty(); }
  bool is_counting() const { return has_begun() && counted_.back().end == UINT64_MAX; }

  // Takes a sampled context switch: the thread is about to leave its CPU.
  void TakeSample(uint32_t pid, uint32_t tid, std::span<const uint64_t> chain);
  void SwitchOut(uint32_t pid, uint32_t tid, uint32_t cpu, uint64_t time, WaitKind kind);
  void SwitchIn(uint32_t pid, uint32_t tid, uint32_t cpu, uint64_t time);
  // Starts a thread that is ready to run.
  void Start(uint32_t pid, uint32_t tid, uint64_t time);
  void Exit(uint32_t tid, uint64_t time);
  // Notes that /proc showed the thread waiting when counting began. Ignored if a record has already
  // set the thread's state.
  void FoundWaiting(uint32_t pid, uint32_t tid);
  void FoundRunning(uint32_t pid, uint32_t tid) { Find(pid, tid); }

  // Returns at most `most` threads that wait without a stack: threads that left their CPU at
  // `since` or earlier, and threads that FoundWaiting has named. Lists each thread once per time
  // off the CPU.
  struct Waiting {
    uint32_t pid = 0, tid = 0;
  };
  std::vector<Waiting> WithoutStack(uint64_t since, size_t most);
  // Sets the stack and the system call of a thread that was off the CPU at `time`. Drops both if a
  // record shows that the thread came back before `time`.
  void SetStack(uint32_t tid, uint64_t time, std::span<const uint64_t> chain, int64_t system_call);

  // Ends the recording. Threads that still wait are reported as waiting until `time`. Time for
  // which no stack was found is reported without a stack.
  void End(uint64_t time);
  // Returns the times of all threads, also of ended ones, in no order. Complete after End.
  std::vector<ThreadTimes> times() const;

  // Sums over the times off the CPU of one kind since BeginFile. Times without a stack of their own
  // are estimated: they are added to other stacks.
  struct Estimate {
    uint64_t switches = 0, sampled = 0;  // `sampled`: switches with a stack
    uint64_t time = 0;                   // estimated time, in ns
    double squares = 0;  // sum of the squares of the estimated times that single stacks got
  };
  using Estimates = std::array<Estimate, 2>;  // indexed by WaitKind
  const Estimates& estimates() const { return estimates_; }
  const Estimate& estimate(WaitKind kind) const { return estimates_[static_cast<size_t>(kind)]; }
  void BeginFile() { estimates_ = {}; }

 private:
  enum class State : uint8_t { kUnknown, kRunning, kOff };
  struct Span {
    uint64_t begin = 0, end = 0;
  };
  static constexpr size_t kLengths = 20;

  // The times off the CPU of one length class.
  struct Length {
    uint64_t owed = 0;            // ns without a stack since the time that set `chain`
    std::vector<uint64_t> chain;  // call chain of the last time with a stack
    int64_t system_call = kNoCall;
  };
  struct Thread {
    State state = State::kUnknown;
    WaitKind kind = WaitKind::kBlocked;
    bool has_stack = false;  // True if `chain` belongs to the present wait or to the coming switch.
    bool stack_sought = false;  // True if WithoutStack has listed the thread.
    uint64_t stack_time = 0;    // the `time` passed to SetStack
    bool was_found = false;     // True if FoundWaiting set the state, which a record may correct.
    uint32_t cpu = 0;
    uint64_t since = 0;  // beginning of the state, or of its known part
    std::vector<uint64_t> chain;
    int64_t system_call = kNoCall;
    std::array<std::array<Length, kLengths>, 2> lengths;  // indexed by WaitKind and length class
    ThreadTimes times;
  };

  Thread& Find(uint32_t pid, uint32_t tid);
  // The counted part of the time from `begin` to `end`: its duration and its end.
  struct Counted {
    uint64_t duration = 0, end = 0;
  };
  Counted CountedOf(uint64_t begin, uint64_t end) const;
  // Counts the state of the thread up to `time`.
  void Close(Thread& thread, uint64_t time);
  void Emit(Thread& thread, uint64_t duration, uint64_t time);
  void EmitOwed(Thread& thread, uint64_t time);
  void CountEstimated(Thread& thread, WaitKind kind, uint64_t time);
  // Sets pid and tid of `wait` to those of the thread, and reports it.
  void Report(const Thread& thread, Wait wait) const;
  static size_t LengthOf(uint64_t duration);

  std::function<void(const Wait&)> on_wait_;
  std::vector<Span> counted_;  // in time order; the last one is open until Pause
  absl::flat_hash_map<uint32_t, std::unique_ptr<Thread>> threads_;
  std::vector<ThreadTimes> ended_;
  Estimates estimates_;
};

}  // namespace profiler::record
