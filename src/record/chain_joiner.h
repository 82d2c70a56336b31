// Mends chains that end where the copied stack does, with what is known of the same thread:
//
//   an earlier chain, whole      main → parse → expr → term → expr → term → …
//   the next one, cut                                  expr → term → atom → number
//   joined                       main → parse → expr → term ─┘
//
// Its outermost frame is looked up among those of the thread's last deep whole chain: the same
// instruction with the same stack pointer was called by the same callers, as a function's frame
// does not move while it runs.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::record {

// One thread. Memory is bounded: when the chains kept have a million frames, all are dropped.
class ChainJoiner {
 public:
  struct Frame {
    uint64_t instruction;  // as a call chain lists it
    uint64_t stack_pointer;
  };

  // The callers of `frame` in the thread's last chain, root first; nothing when the frame is not in
  // it. Valid until the next call of Remember or Forget. O(log depth).
  struct Outer {
    std::span<const Frame> callers;
    bool guessed = false;  // one of them was found by its frame pointer
  };
  std::optional<Outer> Find(uint32_t tid, const symbolize::UnwoundFrame& frame) const;

  // Keeps as the thread's chain the `kept` outermost frames of the one that it has, and inside of
  // them these. Costs O(frames), not O(depth).
  void Remember(uint32_t tid, size_t kept, std::span<const symbolize::UnwoundFrame> leaf_first);

  // The thread ended, or runs another program.
  void Forget(uint32_t tid);

 private:
  struct Chain {
    std::vector<Frame> frames;  // root first: stack pointers do not rise
    size_t first_guess = SIZE_MAX;
  };

  static constexpr size_t kMostFrames = 1 << 20;

  absl::flat_hash_map<uint32_t, Chain> chains_;
  size_t frames_ = 0;  // that there is room for, over all chains
};

}  // namespace profiler::record
