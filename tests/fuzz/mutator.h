// Changes good inputs into bad ones, in the same way in every run.

#pragma once

#include <cstdint>
#include <random>
#include <span>

#include "tests/fuzz/fuzz_target.h"

namespace profiler::fuzz {

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  // Returns one of `seeds` with one to four changes: flipped bits, numbers that often break
  // parsers, pieces removed, doubled, or copied from another seed. `seeds` must not be empty.
  Bytes Mutate(std::span<const Bytes> seeds);

 private:
  size_t Below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  void Change(std::span<const Bytes> seeds, Bytes* input);
  void PutNumber(Bytes* input);

  std::mt19937_64 random_;
};

}  // namespace profiler::fuzz
