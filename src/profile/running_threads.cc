#include "src/profile/running_threads.h"

#include <algorithm>

#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/records.h"

namespace profiler::profile {

void RunningThreads::Take(perf_event::RawRecord record, const perf_event::RecordLayout& layout) {
  const bool runs = (record.misc() & perf_event::kMiscSwitchOut) == 0;
  switch (record.type()) {
    case perf_event::kRecordSwitch: {
      perf_event::Switch one;
      if (Decode(record, layout, &one)) Put(one.sample_id.tid, runs, one.sample_id.time);
      return;
    }
    case perf_event::kRecordSwitchCpuWide: {
      perf_event::SwitchCpuWide one;
      if (Decode(record, layout, &one)) Put(one.sample_id.tid, runs, one.sample_id.time);
      return;
    }
    case perf_event::kRecordComm: {
      // The thread exists; if it is new, it counts as waiting.
      perf_event::Comm comm;
      if (Decode(record, layout, &comm) && !runs_.contains(comm.tid)) {
        Put(comm.tid, /*runs=*/false, comm.sample_id.time);
      }
      return;
    }
    case perf_event::kRecordFork: {
      perf_event::Task task;
      if (Decode(record, layout, &task)) Put(task.tid, /*runs=*/false, task.time);
      return;
    }
    case perf_event::kRecordExit: {
      perf_event::Task task;
      if (Decode(record, layout, &task)) Remove(task.tid, task.time);
      return;
    }
    default:
      return;
  }
}

void RunningThreads::SampledRunning(uint32_t tid, uint64_t time) { Put(tid, true, time); }

void RunningThreads::Put(uint32_t tid, bool runs, uint64_t time) {
  if (tid == 0) return;  // the idle thread does not count as running
  const auto found = runs_.find(tid);
  const bool ran = found != runs_.end() && found->second;
  if (found != runs_.end() && ran == runs) return;
  Advance(time);
  if (ran) --running_;
  if (runs) ++running_;
  runs_[tid] = runs;
}

void RunningThreads::Remove(uint32_t tid, uint64_t time) {
  const auto found = runs_.find(tid);
  if (found == runs_.end()) return;
  Advance(time);
  if (found->second) --running_;
  runs_.erase(found);
}

void RunningThreads::Advance(uint64_t time) {
  time = std::max(time, now_);
  if (running_ == 0 && time > now_ && now_ != 0 && !runs_.empty()) {
    const double before = points_.empty() ? 0 : points_.back().share;
    // The share was constant until here.
    if (points_.empty() || points_.back().time != now_) points_.push_back({now_, before});
    points_.push_back(
        {time, before + static_cast<double>(time - now_) / static_cast<double>(runs_.size())});
  }
  now_ = time;
}

double RunningThreads::ShareUntil(uint64_t time) const {
  const auto after =
      std::upper_bound(points_.begin(), points_.end(), time,
                       [](uint64_t time, const Point& point) { return time < point.time; });
  if (after != points_.end()) {
    if (after == points_.begin()) return 0;
    const Point& before = *(after - 1);
    const double part =
        static_cast<double>(time - before.time) / static_cast<double>(after->time - before.time);
    return before.share + part * (after->share - before.share);
  }
  // Adds the time since the last change.
  const double before = points_.empty() ? 0 : points_.back().share;
  if (running_ != 0 || runs_.empty() || time <= now_ || now_ == 0) return before;
  return before + static_cast<double>(time - now_) / static_cast<double>(runs_.size());
}

uint64_t RunningThreads::ShareOfIdleTime(uint64_t begin, uint64_t end) const {
  return static_cast<uint64_t>(ShareUntil(end) - ShareUntil(begin));
}

}  // namespace profiler::profile
