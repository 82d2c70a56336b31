// Which stack a piece of a raw call chain was found to be, so that a chain that was seen before is
// one look-up and not one look-up a frame.
//
// A chain is cut at its PERF_CONTEXT_* markers. A piece means the same stack again when it has the
// same words, lies on the same stack of callers, and its address space has not changed since. Words
// are compared, never just hashes.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/perf_event/records.h"
#include "src/profile/dense_index.h"
#include "src/profile/profile.h"

namespace profiler::profile {

struct ChainPiece {
  uint64_t generation = 0;  // of the address space that its addresses are in
  StackId callers = kNoStack;
  Mode mode = Mode::kUnknown;
  perf_event::U64Array entries;  // leaf first
};

// Not thread-safe. Memory: the words of the pieces, at most kMaxWords of them; when they are more,
// all is forgotten and found anew.
class ChainCache {
 public:
  static constexpr size_t kMaxWords = size_t{4} << 20;

  // The stack that was last remembered for this piece; else what `make()` returns is remembered.
  template <class Make>
  StackId FindOrMake(const ChainPiece& piece, Make make) {
    if (words_.size() + piece.entries.size() > kMaxWords) Clear();
    const uint64_t hash = HashWords(
        piece.entries.bytes(), Mix(piece.generation, static_cast<uint64_t>(piece.callers) << 8 |
                                                         static_cast<uint64_t>(piece.mode)));
    const uint32_t id = index_.FindOrInsert(
        hash, [&](uint32_t candidate) { return Equals(known_[candidate], piece); },
        [&] {
          Remember(piece);
          known_.back().stack = make();
          return static_cast<uint32_t>(known_.size() - 1);
        });
    return known_[id].stack;
  }

 private:
  struct Known {
    uint64_t generation;
    StackId callers;
    StackId stack;
    uint32_t first_word;
    uint32_t words : 24;
    uint32_t mode : 8;
  };

  bool Equals(const Known& known, const ChainPiece& piece) const;
  void Remember(const ChainPiece& piece);
  void Clear();

  DenseIndex index_;
  std::vector<Known> known_;
  std::vector<uint64_t> words_;
};

}  // namespace profiler::profile
