// What threads do between two times: run, wait for a CPU, or wait for something else; and where
// they wait.
//
//            sample                  SWITCH                         SWITCH
//            (stack)                 out                            in
//   ── runs ────┴───────────────────────┤······ off the CPU ···········├── runs ──▶
//
// The kernel samples a context switch just before the thread leaves its CPU, and SWITCH records say
// when that was, whether the thread could have gone on (preempted) or waits for something
// (blocked), and when it is back. So each time off the CPU is known to the nanosecond, of every
// thread, whether its stack was sampled or not.
//
// Where switches are so many that not all are sampled, those that are stand for the others of their
// thread. A time without a stack is kept, by kind and length, until the next one of that kind and
// about that length (within a factor of four) has one, which then weighs as much more. So the sum
// over a thread's samples is the time that it was off the CPU, whatever was sampled; and which
// switches are sampled does not depend on how long the time will be, so the shares of places of
// about one length are those of their numbers. What is left at the end goes to the last one of that
// kind and length; where there was none, it comes without a stack.
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
  kBlocked,    // for something: a lock, data, time; for a CPU after that has come
  kPreempted,  // for a CPU alone
};

// Of no system call, or nobody knows of which.
inline constexpr int64_t kNoCall = -1;

// A time off the CPU, or several.
struct Wait {
  WaitKind kind = WaitKind::kBlocked;
  uint32_t pid = 0, tid = 0;
  uint32_t cpu = 0;
  uint64_t end = 0;       // of the last one; ns, as records have times
  uint64_t duration = 0;  // ns
  // The call chain as the sample had it; empty where there was none. Valid during the call.
  std::span<const uint64_t> chain;
  int64_t system_call = kNoCall;  // as SetStack had it
};

// How one thread spent the recording, in ns. Their sum is the time that the thread was there.
struct ThreadTimes {
  uint32_t pid = 0, tid = 0;
  uint64_t running = 0, preempted = 0, blocked = 0;
  uint64_t unknown = 0;         // before the first record of it, and where records are lost
  uint64_t without_stack = 0;   // of preempted and blocked
  uint64_t times_off = 0;       // how often it left its CPU
  uint64_t stacks_sampled = 0;  // of these
  uint64_t estimated = 0;       // of preempted and blocked: without a stack, others stand for it
  bool has_ended = false;
};

// One thread. Fed in time order. Allocates for threads and longer chains alone.
class OffCpu {
 public:
  // `on_wait` is called with each time off the CPU when it has ended.
  explicit OffCpu(std::function<void(const Wait&)> on_wait) : on_wait_(std::move(on_wait)) {}

  // From here on times count, up to Pause. Before the first Begin and while it pauses, it is only
  // noted what threads do. Records of before may come after either.
  void Begin(uint64_t time);
  void Pause(uint64_t time);
  bool has_begun() const { return !counted_.empty(); }
  bool is_counting() const { return has_begun() && counted_.back().end == UINT64_MAX; }

  // A context switch of the thread was sampled, and is about to take place.
  void TakeSample(uint32_t pid, uint32_t tid, std::span<const uint64_t> chain);
  void SwitchOut(uint32_t pid, uint32_t tid, uint32_t cpu, uint64_t time, WaitKind kind);
  void SwitchIn(uint32_t pid, uint32_t tid, uint32_t cpu, uint64_t time);
  // A thread is there from now on, ready to run.
  void Start(uint32_t pid, uint32_t tid, uint64_t time);
  void Exit(uint32_t tid, uint64_t time);
  // Found so when counting began, unless a record has told or tells otherwise.
  void FoundWaiting(uint32_t pid, uint32_t tid);
  void FoundRunning(uint32_t pid, uint32_t tid) { Find(pid, tid); }

  // At most `most` threads without a stack that were not listed since they left the CPU: those off
  // the CPU since `since` or earlier, and those that were found waiting.
  struct Waiting {
    uint32_t pid = 0, tid = 0;
  };
  std::vector<Waiting> WithoutStack(uint64_t since, size_t most);
  // The stack of a thread that was off the CPU at `time`, and the system call that it was in. It is
  // dropped if it turns out that the thread was back before.
  void SetStack(uint32_t tid, uint64_t time, std::span<const uint64_t> chain, int64_t system_call);

  // The recording ends: all that wait still do so up to now, and what never found a stack comes
  // without.
  void End(uint64_t time);
  // Of all threads, also those that have ended; in no order. Whole after End.
  std::vector<ThreadTimes> times() const;

  // Times off the CPU of one kind that were handed out since BeginFile, and how much of them was
  // estimated: times without a stack, which others stand for.
  struct Estimate {
    uint64_t switches = 0, sampled = 0;  // sampled: also those whose stack was read
    uint64_t time = 0;                   // ns
    double squares = 0;                  // of the times that single stacks stand for, summed up
  };
  const Estimate& estimate(WaitKind kind) const { return estimates_[static_cast<size_t>(kind)]; }
  void BeginFile() { estimates_ = {}; }

 private:
  enum class State : uint8_t { kUnknown, kRunning, kOff };
  struct Span {
    uint64_t begin = 0, end = 0;
  };
  static constexpr size_t kLengths = 20;

  // Times off the CPU of about one length.
  struct Length {
    uint64_t owed = 0;            // by those without a stack, since the last that had one
    std::vector<uint64_t> chain;  // that one's
    int64_t system_call = kNoCall;
  };
  struct Thread {
    State state = State::kUnknown;
    WaitKind kind = WaitKind::kBlocked;
    bool has_stack = false;     // `chain` is of the wait at hand, or of the switch to come
    bool stack_sought = false;  // by SetStack
    uint64_t stack_time = 0;    // SetStack's
    bool was_found = false;     // by FoundWaiting, which a record may prove wrong
    uint32_t cpu = 0;
    uint64_t since = 0;  // when the state began, or was first known of
    std::vector<uint64_t> chain;
    int64_t system_call = kNoCall;
    std::array<std::array<Length, kLengths>, 2> lengths;  // by WaitKind
    ThreadTimes times;
  };

  Thread& Find(uint32_t pid, uint32_t tid);
  // How much of the time from `begin` to `end` counts, and the end of that.
  struct Counted {
    uint64_t duration = 0, end = 0;
  };
  Counted CountedOf(uint64_t begin, uint64_t end) const;
  // Counts what the thread did up to now.
  void Close(Thread& thread, uint64_t time);
  void Emit(Thread& thread, uint64_t duration, uint64_t time);
  void EmitOwed(Thread& thread, uint64_t time);
  void CountEstimated(Thread& thread, WaitKind kind, uint64_t time);
  // Hands out `wait`, completed by whose it is.
  void Report(const Thread& thread, Wait wait) const;
  static size_t LengthOf(uint64_t duration);

  std::function<void(const Wait&)> on_wait_;
  std::vector<Span> counted_;  // one after the other; the last is open until Pause
  absl::flat_hash_map<uint32_t, std::unique_ptr<Thread>> threads_;
  std::vector<ThreadTimes> ended_;
  std::array<Estimate, 2> estimates_;  // by WaitKind
};

}  // namespace profiler::record
