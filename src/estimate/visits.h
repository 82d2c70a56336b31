// Counts how often samples change from one set to another, for many sets at once: functions, of
// which each sample has several on its stack.
//
//   Visits visits(/*keys=*/3);
//   visits.Add({0, 1}); visits.Add({0, 2}); visits.Add({0, 2}); visits.EndStream();
//   visits[1]           1 of 3 samples, 1 change, 1 at two

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/estimate/share.h"

namespace profiler::estimate {

// Not thread-safe. 32 bytes a key; a sample costs one access to them for each of its keys.
class Visits {
 public:
  explicit Visits(size_t keys) : keys_(keys) {}

  // The next sample of a stream, and the distinct keys below the number given that it is in.
  void Add(std::span<const uint32_t> keys);
  // What is added next has no neighbour in what was added.
  void EndStream();

  // Of all streams that have ended; without beats.
  ShareSamples operator[](uint32_t key) const;

 private:
  struct Key {
    uint64_t last = 0, before_last = 0;  // when it was met, from 1
    uint64_t count = 0;
    // Samples that are in it while that before them, or two before them, is not.
    uint32_t begins = 0, begins_at_two = 0;
    // Of these, and of their ends, those where the stream begins or ends: nothing changes there.
    uint32_t bounds = 0, bounds_at_two = 0;
  };

  std::vector<Key> keys_;
  uint64_t now_ = 2;      // the number of the last sample
  uint64_t first_ = 3;    // of the stream
  uint64_t samples_ = 0;  // of all streams
  std::vector<uint32_t> last_, before_last_;
};

}  // namespace profiler::estimate
