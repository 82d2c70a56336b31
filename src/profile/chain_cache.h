// Which stack a piece of a raw call chain was found to be, so that a chain that was seen before is
// one look-up and not one look-up a frame.
//
// A chain is cut at its PERF_CONTEXT_* markers. A piece means the same stack again when it has the
// same words, lies on the same stack of callers, and its address space has not changed since. Words
// are compared, never just hashes.
//
//   words_   │ Known of piece 0 │ its entries │ Known of piece 1 │ its entries │ …
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

// What a piece stands for.
struct KnownStack {
  StackId stack = kNoStack;
  FrameId leaf{};             // of `stack`
  uint32_t row = UINT32_MAX;  // the caller's: where it last counted this stack
};

// Not thread-safe. Memory: at most 8 × kMaxWords bytes and their index; when it would be more, all
// is forgotten and found anew.
class ChainCache {
 public:
  static constexpr size_t kMaxWords = size_t{4} << 20;

  // What was last remembered for this piece; else what `make()` returns is remembered. Valid until
  // the next call.
  template <class Make>
  KnownStack& FindOrMake(const ChainPiece& piece, Make make) {
    if (words_.size() + kKnownWords + piece.entries.size() > kMaxWords) Clear();
    const uint64_t place =
        static_cast<uint64_t>(piece.callers) << 8 | static_cast<uint64_t>(piece.mode);
    const uint32_t at = index_.FindOrInsert(
        HashWords(piece.entries.bytes(), Mix(piece.generation, place)),
        [&](uint32_t candidate) { return Equals(candidate, piece); },
        [&] { return Remember(piece, make()); });
    return KnownAt(at).stack;
  }

 private:
  struct Known {
    uint64_t generation;
    StackId callers;
    uint32_t size : 24;
    uint32_t mode : 8;
    KnownStack stack;
    uint32_t unused = 0;
  };
  static constexpr size_t kKnownWords = sizeof(Known) / 8;
  static_assert(sizeof(Known) % 8 == 0);

  Known& KnownAt(uint32_t word) { return *reinterpret_cast<Known*>(words_.data() + word); }
  bool Equals(uint32_t word, const ChainPiece& piece);
  uint32_t Remember(const ChainPiece& piece, const KnownStack& stack);
  void Clear();

  DenseIndex index_;  // to words_
  std::vector<uint64_t> words_;
};

}  // namespace profiler::profile
