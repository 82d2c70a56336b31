// What the call frame information of files may cost that somebody else wrote, over all their images
// together. A limit for each image would be none: one file has as many images as it has names.
//
// Private to this package.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace profiler::symbolize {

// Not thread-safe.
class FrameBudget {
 public:
  struct Limits {
    // Of FDEs' programs: what may be run at once, which is less than a second, and what each sample
    // adds to that, which is a tenth of a millisecond.
    int64_t instructions = int64_t{1} << 25;
    int64_t instructions_of_sample = int64_t{1} << 14;
    // Of tables, and of sections that were decompressed, in bytes.
    uint64_t memory = uint64_t{128} << 20;
  };
  FrameBudget() : FrameBudget(Limits()) {}
  explicit FrameBudget(const Limits& limits)
      : limits_(limits), instructions_left_(limits.instructions), memory_left_(limits.memory) {}

  void StartSample() {
    instructions_left_ =
        std::min(instructions_left_ + limits_.instructions_of_sample, limits_.instructions);
  }

  // At least 0.
  uint64_t instructions_left() const {
    return static_cast<uint64_t>(std::max<int64_t>(instructions_left_, 0));
  }
  // Those that were run; a few more than were left are owed to the samples to come.
  void TakeInstructions(uint64_t count) { instructions_left_ -= static_cast<int64_t>(count); }

  uint64_t memory_left() const { return memory_left_; }
  // False where there is not so much left; then nothing is taken.
  bool TakeMemory(uint64_t bytes) {
    if (bytes > memory_left_) return false;
    memory_left_ -= bytes;
    return true;
  }
  void GiveMemoryBack(uint64_t bytes) { memory_left_ += bytes; }

 private:
  const Limits limits_;
  int64_t instructions_left_;
  uint64_t memory_left_;
};

}  // namespace profiler::symbolize
