// Counts running threads by the records of context switches, and distributes times in which no
// thread ran among the waiting threads.
//
//   threads running   2 ────┐     1 ──┐         ┌──── 1
//                           └─────────┘···· 0 ···┘
//   waiting                 1         2 ···· 2 ··      each gets half of that time
//
// The recording's duration is then the sum of two parts: the samples of running threads, each
// divided by the number of running threads, and the shares of waiting threads.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/format/perf_event/codec.h"

namespace profiler::profile {

// The numbers of threads. Not thread-safe. Feed it in time order. Memory: one number per thread,
// and two for each change of the number of waiting threads while none runs.
class RunningThreads {
 public:
  // Takes any record except a sample. Uses the records of context switches, and of beginnings and
  // ends of threads; ignores other records.
  void Take(perf_event::RawRecord record, const perf_event::RecordLayout& layout);
  // Notes that a thread was running when it was sampled.
  void SampledRunning(uint32_t tid, uint64_t time);

  // Returns the number of running threads, at least 1.
  uint32_t parallelism() const { return running_ == 0 ? 1 : running_; }
  // Returns a waiting thread's share of the time from `begin` to `end` in which no thread ran, in
  // ns. Neither `begin` nor `end` may be later than now.
  uint64_t ShareOfIdleTime(uint64_t begin, uint64_t end) const;

 private:
  // The share up to `time` of a thread that waited from the beginning.
  struct Point {
    uint64_t time = 0;
    double share = 0;
  };

  void Put(uint32_t tid, bool runs, uint64_t time);
  void Remove(uint32_t tid, uint64_t time);
  // Advances the shares to `time`; call it before the numbers of threads change.
  void Advance(uint64_t time);
  double ShareUntil(uint64_t time) const;

  absl::flat_hash_map<uint32_t, bool> runs_;  // keyed by tid: True if the thread runs
  uint32_t running_ = 0;
  uint64_t now_ = 0;
  std::vector<Point> points_;  // points at which the growth of the share changes
};

}  // namespace profiler::profile
