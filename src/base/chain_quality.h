// How good the call chains of a recording are: those that were unwound from stack bytes, and apart
// from them those that the kernel made.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace profiler {

// Counts of user call chains, one a sample. A chain is whole when it ends at the thread's start;
// how it got there tells the whole ones apart, the least certain way deciding.
struct ChainQuality {
  uint64_t complete = 0;   // from registers and copied bytes, by call frame information alone
  uint64_t late_read = 0;  // of a thread that waited and did not run while its stack was read
  uint64_t guessed = 0;    // with a frame found by its frame pointer or the top of the stack

  // Samples in the kernel of a thread that has no user stack any more, as an exec or its exit is
  // under way. Their user part is not there to be found: they are neither whole nor cut, and count
  // in no other sum.
  uint64_t no_stack = 0;

  // Chains that end too early.
  struct Cut {
    uint64_t chains = 0;
    std::string reason;  // such as "stack too short"
    std::string image;   // of the last frame; empty where it lies in none
    bool operator==(const Cut&) const = default;
  };
  std::vector<Cut> cuts;  // the most frequent first

  // Chains that the kernel made by following frame pointers, with at least one caller. They are
  // shown as they are and count in no other sum. One is broken if a caller is in no mapping: what
  // was followed was no frame pointer. A recording does not say these two; its readers count them.
  uint64_t by_kernel = 0;
  uint64_t broken = 0;  // of by_kernel

  uint64_t whole() const { return complete + late_read + guessed; }
  uint64_t cut() const {
    uint64_t sum = 0;
    for (const Cut& cut : cuts) sum += cut.chains;
    return sum;
  }
  uint64_t chains() const { return whole() + cut(); }
  bool operator==(const ChainQuality&) const = default;
};

// A cut chain in a recording ends with a mark: behind its outermost caller stands kCutMarks + the
// number of the reason (symbolize::ChainEnd). No code is there: it is the first page of memory.
inline constexpr uint64_t kCutMarks = 0xc00, kMostCutMarks = 64;
constexpr bool IsCutMark(uint64_t entry) {
  return entry > kCutMarks && entry - kCutMarks < kMostCutMarks;
}
// The mark of a thread that had dropped its stack, as an exec or its exit was under way. Such a
// chain counts as ChainQuality::no_stack, neither whole nor cut.
inline constexpr uint64_t kNoStackMark = kCutMarks + 13;

// The weight (sum of periods) of an event's samples whose chains were unwound while recording.
struct ChainWeights {
  std::string event;
  uint64_t whole = 0, cut = 0;
};
// Adds the weight of a sample whose chain has an unwound user part. Chains of threads without a
// stack are neither whole nor cut.
inline void AddWeight(std::span<const uint64_t> chain, uint64_t weight, ChainWeights* weights) {
  if (chain.empty() || chain.back() == kNoStackMark) return;
  (IsCutMark(chain.back()) ? weights->cut : weights->whole) += weight;
}

}  // namespace profiler
