// How many threads run at a time, as records of context switches tell, and what part of the time in
// which none ran each of those has that were waiting.
//
//   threads running   2 ────┐     1 ──┐         ┌──── 1
//                           └─────────┘···· 0 ···┘
//   waiting                 1         2 ···· 2 ··      their shares of that time: a half each
//
// So the samples of threads that run, each divided by how many did, and these shares add up to the
// time that the recording took.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/perf_event/codec.h"

namespace profiler::profile {

// Fed in time order. Not thread-safe. Memory: a number for each thread, and two for each time that
// threads begin or cease to wait while none runs.
class RunningThreads {
 public:
  // Any record but a sample: those of switches, and of the beginnings and ends of threads, count.
  void Take(perf_event::RawRecord record, const perf_event::RecordLayout& layout);
  // A sample of a thread was taken while that ran.
  void SampledRunning(uint32_t tid, uint64_t time);

  // 1 at least.
  uint32_t parallelism() const { return running_ == 0 ? 1 : running_; }
  // Of the time from `begin` to `end`, neither later than now, in ns.
  uint64_t ShareOfIdleTime(uint64_t begin, uint64_t end) const;

 private:
  // The share that a thread has that waited from the first of times on.
  struct Point {
    uint64_t time = 0;
    double share = 0;
  };

  void Put(uint32_t tid, bool runs, uint64_t time);
  void Remove(uint32_t tid, uint64_t time);
  // To be called before the numbers change.
  void Advance(uint64_t time);
  double ShareUntil(uint64_t time) const;

  absl::flat_hash_map<uint32_t, bool> runs_;  // by tid
  uint32_t running_ = 0;
  uint64_t now_ = 0;
  std::vector<Point> points_;  // where the slope changes
};

}  // namespace profiler::profile
