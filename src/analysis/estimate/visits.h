// Counts how often consecutive samples enter or leave a set, for many sets at once. For example,
// each function is a set: the samples that have it on their stack. So a sample is in several sets.
//
//   Visits visits(/*keys=*/3);
//   visits.Add({0, 1}); visits.Add({0, 2}); visits.Add({0, 2}); visits.EndStream();
//   visits[1]           1 of 3 samples, 1 change, 1 at two

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/analysis/estimate/share.h"

namespace profiler::estimate {

// Counts of all sets. Not thread-safe. Uses 32 bytes per key; a sample costs one memory access for
// each of its keys.
class Visits {
 public:
  explicit Visits(size_t keys) : keys_(keys) {}

  // Adds the next sample of a stream, with the distinct keys that it is in. Keys are below the
  // number given to the constructor.
  void Add(std::span<const uint32_t> keys);
  // Ends a stream: the next sample has no neighbour among the samples before.
  void EndStream();

  // Returns the counts of all ended streams, without beats.
  ShareSamples operator[](uint32_t key) const;

 private:
  struct Key {
    uint64_t last = 0, before_last = 0;  // numbers, from 1, of the last two samples in the set
    uint64_t count = 0;
    // `begins`: number of samples in the set whose predecessor is not in the set. `begins_at_two`:
    // number of samples in the set for which the sample two earlier is not in the set.
    uint32_t begins = 0, begins_at_two = 0;
    // Numbers of visits that begin or end at the bound of a stream, which is no change.
    uint32_t bounds = 0, bounds_at_two = 0;
  };

  std::vector<Key> keys_;
  uint64_t now_ = 2;      // number of the last sample
  uint64_t first_ = 3;    // number of the first sample of the present stream
  uint64_t samples_ = 0;  // number of samples in all streams
  std::vector<uint32_t> last_, before_last_;
};

}  // namespace profiler::estimate
