// Limits the cost of call frame information from files of other users, over all their images
// together. A limit per image would not help: one file may appear as any number of images.
//
// Private to this package.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace profiler::symbolize {

// Remaining instructions and memory. Not thread-safe.
class FrameBudget {
 public:
  struct Limits {
    // Numbers of FDE instructions. `instructions` is the budget at the start and its maximum; that
    // many take less than 1 s. Each sample adds `instructions_of_sample`, which take 0.1 ms.
    int64_t instructions = int64_t{1} << 25;
    int64_t instructions_of_sample = int64_t{1} << 14;
    // Memory of tables and decompressed sections, in bytes.
    uint64_t memory = uint64_t{128} << 20;
  };
  FrameBudget() : FrameBudget(Limits()) {}
  explicit FrameBudget(const Limits& limits)
      : limits_(limits), instructions_left_(limits.instructions), memory_left_(limits.memory) {}

  void StartSample() {
    instructions_left_ =
        std::min(instructions_left_ + limits_.instructions_of_sample, limits_.instructions);
  }

  // Returns the number of instructions that may still run; never negative.
  uint64_t instructions_left() const {
    return static_cast<uint64_t>(std::max<int64_t>(instructions_left_, 0));
  }
  // Subtracts `count` instructions that ran. The remaining number may become negative. Then no more
  // instructions run until later samples have added enough.
  void TakeInstructions(uint64_t count) { instructions_left_ -= static_cast<int64_t>(count); }

  uint64_t memory_left() const { return memory_left_; }
  // Takes `bytes` of memory. Returns false and takes nothing if fewer bytes are left.
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
