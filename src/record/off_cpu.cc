#include "src/record/off_cpu.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace profiler::record {

OffCpu::Thread& OffCpu::Find(uint32_t pid, uint32_t tid) {
  std::unique_ptr<Thread>& thread = threads_[tid];
  if (thread == nullptr) {
    thread = std::make_unique<Thread>();
    // The thread may have existed before its first record, so its time counts from the beginning of
    // the recording.
    thread->since = counted_.empty() ? 0 : counted_.front().begin;
    thread->times.pid = pid;
    thread->times.tid = tid;
  }
  return *thread;
}

void OffCpu::Begin(uint64_t time) {
  if (!is_counting()) counted_.push_back({time, UINT64_MAX});
}

void OffCpu::Pause(uint64_t time) {
  if (is_counting()) counted_.back().end = time;
}

OffCpu::Counted OffCpu::CountedOf(uint64_t begin, uint64_t end) const {
  Counted counted;
  for (size_t i = counted_.size(); i-- > 0 && counted_[i].end > begin;) {
    const uint64_t first = std::max(begin, counted_[i].begin);
    const uint64_t last = std::min(end, counted_[i].end);
    if (last <= first) continue;
    counted.duration += last - first;
    counted.end = std::max(counted.end, last);
  }
  return counted;
}

size_t OffCpu::LengthOf(uint64_t duration) {
  return std::min<size_t>(static_cast<size_t>(std::bit_width(duration)) / 2, kLengths - 1);
}

void OffCpu::Close(Thread& thread, uint64_t time) {
  if (time <= thread.since) return;
  const auto [duration, end] = CountedOf(std::exchange(thread.since, time), time);
  if (duration == 0) return;
  switch (thread.state) {
    case State::kUnknown:
      thread.times.unknown += duration;
      break;
    case State::kRunning:
      thread.times.running += duration;
      break;
    case State::kOff:
      (thread.kind == WaitKind::kBlocked ? thread.times.blocked : thread.times.preempted) +=
          duration;
      Emit(thread, duration, end);
      break;
  }
}

void OffCpu::Emit(Thread& thread, uint64_t duration, uint64_t time) {
  Length& length = thread.lengths[static_cast<size_t>(thread.kind)][LengthOf(duration)];
  Estimate& estimate = estimates_[static_cast<size_t>(thread.kind)];
  ++estimate.switches;
  if (!thread.has_stack) {
    length.owed += duration;
    return;
  }
  ++estimate.sampled;
  CountEstimated(thread, thread.kind, length.owed);
  length.owed += duration;
  length.chain = thread.chain;
  length.system_call = thread.system_call;
  Report(thread, {.kind = thread.kind,
                  .end = time,
                  .duration = std::exchange(length.owed, 0),
                  .chain = thread.chain,
                  .system_call = thread.system_call});
}

void OffCpu::CountEstimated(Thread& thread, WaitKind kind, uint64_t time) {
  thread.times.estimated += time;
  Estimate& estimate = estimates_[static_cast<size_t>(kind)];
  estimate.time += time;
  estimate.squares += static_cast<double>(time) * static_cast<double>(time);
}

void OffCpu::EmitOwed(Thread& thread, uint64_t time) {
  for (const WaitKind kind : {WaitKind::kBlocked, WaitKind::kPreempted}) {
    uint64_t without = 0;
    for (Length& length : thread.lengths[static_cast<size_t>(kind)]) {
      const uint64_t owed = std::exchange(length.owed, 0);
      if (length.chain.empty()) {
        without += owed;
      } else if (owed != 0) {
        CountEstimated(thread, kind, owed);
        Report(thread, {.kind = kind,
                        .end = time,
                        .duration = owed,
                        .chain = length.chain,
                        .system_call = length.system_call});
      }
    }
    thread.times.without_stack += without;
    if (without != 0) Report(thread, {.kind = kind, .end = time, .duration = without, .chain = {}});
  }
}

void OffCpu::Report(const Thread& thread, Wait wait) const {
  wait.pid = thread.times.pid;
  wait.tid = thread.times.tid;
  wait.cpu = thread.cpu;
  on_wait_(wait);
}

void OffCpu::TakeSample(uint32_t pid, uint32_t tid, std::span<const uint64_t> chain) {
  Thread& thread = Find(pid, tid);
  thread.chain.assign(chain.begin(), chain.end());
  thread.system_call = kNoCall;
  thread.has_stack = true;
  ++thread.times.stacks_sampled;
}

void OffCpu::SwitchOut(uint32_t pid, uint32_t tid, uint32_t cpu, uint64_t time, WaitKind kind) {
  Thread& thread = Find(pid, tid);
  // A SWITCH out means that the thread ran until now. If its state was kOff, a record of its return
  // was lost.
  const bool is_news = thread.state == State::kOff && !thread.was_found;
  thread.state = is_news ? State::kUnknown : State::kRunning;
  thread.was_found = false;
  Close(thread, time);
  thread.state = State::kOff;
  thread.kind = kind;
  thread.cpu = cpu;
  thread.since = time;
  thread.stack_sought = false;
  ++thread.times.times_off;
}

void OffCpu::SwitchIn(uint32_t pid, uint32_t tid, uint32_t cpu, uint64_t time) {
  Thread& thread = Find(pid, tid);
  // The record that the thread left its CPU before this time is missing.
  if (thread.state == State::kRunning) thread.state = State::kUnknown;
  if (thread.stack_time >= time) thread.has_stack = false;
  Close(thread, time);
  thread.state = State::kRunning;
  thread.was_found = false;
  thread.stack_time = 0;
  thread.has_stack = false;
  thread.cpu = cpu;
  thread.since = time;
}

void OffCpu::Start(uint32_t pid, uint32_t tid, uint64_t time) {
  Exit(tid, time);  // ends a former thread with the same tid
  Thread& thread = Find(pid, tid);
  thread.state = State::kOff;
  thread.kind = WaitKind::kPreempted;
  thread.since = time;
  thread.stack_sought = true;  // True because a new thread has no stack yet.
}

void OffCpu::Exit(uint32_t tid, uint64_t time) {
  const auto found = threads_.find(tid);
  if (found == threads_.end()) return;
  Thread& thread = *found->second;
  Close(thread, time);
  EmitOwed(thread, time);
  thread.times.has_ended = true;
  ended_.push_back(thread.times);
  threads_.erase(found);
}

void OffCpu::FoundWaiting(uint32_t pid, uint32_t tid) {
  Thread& thread = Find(pid, tid);
  if (thread.state != State::kUnknown) return;
  thread.state = State::kOff;
  thread.kind = WaitKind::kBlocked;
  thread.was_found = true;
}

std::vector<OffCpu::Waiting> OffCpu::WithoutStack(uint64_t since, size_t most) {
  std::vector<Waiting> waiting;
  for (auto& [tid, thread] : threads_) {
    if (waiting.size() == most) break;
    if (thread->state != State::kOff || thread->has_stack || thread->stack_sought) continue;
    if (thread->since > since && !thread->was_found) continue;
    thread->stack_sought = true;
    waiting.push_back({thread->times.pid, tid});
  }
  return waiting;
}

void OffCpu::SetStack(uint32_t tid, uint64_t time, std::span<const uint64_t> chain,
                      int64_t system_call) {
  const auto found = threads_.find(tid);
  if (found == threads_.end() || chain.empty() || found->second->state != State::kOff) return;
  found->second->stack_time = time;
  found->second->chain.assign(chain.begin(), chain.end());
  found->second->system_call = system_call;
  found->second->has_stack = true;
}

void OffCpu::End(uint64_t time) {
  for (auto& [tid, thread] : threads_) {
    Close(*thread, time);
    EmitOwed(*thread, time);
  }
}

std::vector<ThreadTimes> OffCpu::times() const {
  std::vector<ThreadTimes> times = ended_;
  for (const auto& [tid, thread] : threads_) times.push_back(thread->times);
  return times;
}

}  // namespace profiler::record
