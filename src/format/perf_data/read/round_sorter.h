// Sorts records by time with the memory of two rounds.
//
// A recorder empties its rings one after the other and then marks the end of the round. A record
// that comes just after round k − 1 emptied its ring is read in round k. It may be older than
// records that round k − 1 read afterwards from other rings. It is never older than the newest
// record of round k − 2. So the marker that ends round k releases records up to the newest time in
// rounds 1 to k − 1, in time order:
//
//   round      1            2             3
//   ring A   10 20        50 60          90
//   ring B   15 30   |    25 55    |     70   |
//   newest       30           60            90
//   released      –   10 15 20 25 30   50 55 60        then, at the end, 70 90
//
// Equal times keep their order. perf's ordered events do the same
// (tools/perf/util/ordered-events.c, Linux 7.2), so both visit records in the same order.
//
// A ring's records are in order except for a few neighbours (interrupts). A round therefore
// consists of a few ascending runs, which std::stable_sort merges. (Merging only overlapping runs
// saved 4 % of the CPU time of a report.) Memory: 16 bytes per held record, and half of that again
// while sorting.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"

namespace profiler::perf_data {

// A sorter. Not thread-safe.
class RoundSorter {
 public:
  struct Entry {
    uint64_t time = 0;
    const std::byte* record = nullptr;  // owned by the caller; only prefetched here
  };
  using Visitor = absl::FunctionRef<void(const Entry&)>;

  void Add(uint64_t time, const std::byte* record) { entries_.push_back({time, record}); }

  // Adds an entry that need not be visited. Only the first and the last of such entries that one
  // round releases are visited. Keeps no memory for the others, but their times count.
  void PassOver(uint64_t time, const std::byte* record) {
    (time <= release_limit_ ? passed_over_ : passed_over_later_).Add({time, record});
  }

  // Ends the round and visits the entries that it releases.
  void EndRound(Visitor visit);

  // Visits all remaining entries, and forgets all rounds.
  void Flush(Visitor visit);

  // Returns the number of entries that were added and not visited.
  size_t held() const { return entries_.size(); }

 private:
  // The first and the last of the entries that are passed over.
  struct Ends {
    void Add(const Entry& entry) {
      if (first.record == nullptr || entry.time < first.time) first = entry;
      if (last.record == nullptr || entry.time >= last.time) last = entry;
    }
    Entry first, last;  // record is null if there are no entries
  };

  void Sort();
  void AddEnds(Ends& ends);

  std::vector<Entry> entries_;  // entries left by earlier rounds, then this round's in their order
  uint64_t release_limit_ = 0;  // newest time up to the end of the previous round
  // Entries of this round that are passed over, and are released at its end, or by the next round.
  Ends passed_over_, passed_over_later_;
};

}  // namespace profiler::perf_data
