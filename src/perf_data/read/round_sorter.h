// Brings records into time order with the memory of two rounds.
//
// A recorder empties its rings one after the other and then marks the end of the round. A record
// that is taken in round k may be older than records of round k − 1 (its ring was emptied just
// before it was written), but never older than what round k − 2 has seen. So the marker that ends
// round k releases, in time order, all that is not newer than the newest time seen up to the end of
// round k − 1:
//
//   round      1            2             3
//   ring A   10 20        50 60          90
//   ring B   15 30   |    25 55    |     70   |
//   newest       30           60            90
//   released      –   10 15 20 25 30   50 55 60        then, at the end, 70 90
//
// Equal times keep the order in which they came. This is what perf's ordered events do
// (tools/perf/util/ordered-events.c, Linux 7.2), so both visit records in the same order.
//
// What a ring delivers is sorted but for a few neighbours (interrupts), so a round is a few
// ascending runs, which std::stable_sort merges. (Merging just what overlaps, run by run, took 4 %
// off the CPU of a report.) Memory: 16 bytes a record held, and half of that again while sorting.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"

namespace profiler::perf_data {

// Not thread-safe.
class RoundSorter {
 public:
  struct Entry {
    uint64_t time = 0;
    const std::byte* record = nullptr;  // the caller's; only handed back
  };
  using Visitor = absl::FunctionRef<void(const Entry&)>;

  void Add(uint64_t time, const std::byte* record) { entries_.push_back({time, record}); }

  // Ends the round and visits what it releases.
  void EndRound(Visitor visit);

  // Visits all that is left, and starts anew.
  void Flush(Visitor visit);

  // Entries added and not yet visited.
  size_t held() const { return entries_.size(); }

 private:
  void Sort();

  std::vector<Entry> entries_;  // what earlier rounds left, then this round's as they came
  uint64_t release_limit_ = 0;  // newest time seen up to the end of the round before this
};

}  // namespace profiler::perf_data
