// Counts how many call chains of a recording are whole, for chains unwound from stack bytes and,
// separately, for chains made by the kernel.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace profiler {

// Counts of user call chains, one chain per sample. A chain is whole if it ends at the thread's
// start. Whole chains are classified by their least certain step.
struct ChainQuality {
  // Whole chains unwound from registers and copied stack bytes, with call frame information only.
  uint64_t complete = 0;
  // Whole chains whose stack was read later, from a thread that had waited since the sample without
  // running.
  uint64_t late_read = 0;
  // Whole chains with a frame that was found by its frame pointer or on top of the stack.
  uint64_t guessed = 0;

  // Samples that were taken in the kernel after the thread had lost its user stack, by an exec or
  // by its exit. They have no user chain. These samples are neither whole nor cut, and no sum
  // includes them.
  uint64_t no_stack = 0;

  // Chains that end too early for the same reason and in the same image.
  struct Cut {
    uint64_t chains = 0;
    std::string reason;  // such as "stack too short"
    std::string image;   // image of the last frame; empty if it is in none
    bool operator==(const Cut&) const = default;
  };
  std::vector<Cut> cuts;  // the most frequent first

  // Chains that the kernel made by following frame pointers, with at least one caller. They are
  // shown unchanged, and no sum includes them. A chain is broken if a caller is in no mapping: the
  // followed value was not a frame pointer. A recording does not store these two counts; readers
  // compute them.
  uint64_t by_kernel = 0;
  uint64_t broken = 0;  // these chains also count in by_kernel

  uint64_t whole() const { return complete + late_read + guessed; }
  uint64_t cut() const {
    uint64_t sum = 0;
    for (const Cut& cut : cuts) sum += cut.chains;
    return sum;
  }
  uint64_t chains() const { return whole() + cut(); }
  bool operator==(const ChainQuality&) const = default;
};

// A recorded chain that was cut ends with a mark after its outermost caller: kCutMarks + the number
// of the reason (symbolize::ChainEnd). The mark is an address in the first page of memory, where no
// code is.
inline constexpr uint64_t kCutMarks = 0xc00, kMostCutMarks = 64;
constexpr bool IsCutMark(uint64_t entry) {
  return entry > kCutMarks && entry - kCutMarks < kMostCutMarks;
}
// The mark of a thread that has lost its user stack by an exec or by its exit. Such a chain counts
// in ChainQuality::no_stack.
inline constexpr uint64_t kNoStackMark = kCutMarks + 13;

// The weight (sum of periods) of an event's samples whose chains were unwound while recording.
struct ChainWeights {
  std::string event;
  uint64_t whole = 0, cut = 0;
};
// Adds the weight of a sample whose chain has an unwound user part. A chain with kNoStackMark is
// neither whole nor cut.
inline void AddWeight(std::span<const uint64_t> chain, uint64_t weight, ChainWeights* weights) {
  if (chain.empty() || chain.back() == kNoStackMark) return;
  (IsCutMark(chain.back()) ? weights->cut : weights->whole) += weight;
}

}  // namespace profiler
