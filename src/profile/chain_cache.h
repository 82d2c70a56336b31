// Which stack a raw call chain was found to be, so that a chain that was seen before is one look-up
// and not one look-up a frame.
//
// A chain means the same stack again when it has the same words and neither its process's address
// space nor the kernel's has changed since. Words are compared, never just hashes.
//
//   words_   │ Known 0 │ its chain │ Known 1 │ its chain │ …
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/huge_pages.h"
#include "src/perf_event/abi.h"
#include "src/perf_event/records.h"
#include "src/profile/dense_index.h"
#include "src/profile/profile.h"

namespace profiler::profile {

struct RawChain {
  uint64_t process_generation = 0, kernel_generation = 0;  // of the address spaces
  Mode mode = Mode::kUnknown;                              // of entries in front of any marker
  perf_event::U64Array entries;                            // leaf first, with markers

  uint64_t Hash() const {
    const uint64_t seed = Mix(process_generation << 8 | static_cast<uint64_t>(mode),  //
                              kernel_generation);
    return HashWords(entries.bytes(), seed);
  }
};

// What a chain stands for.
struct KnownStack {
  StackId stack = kNoStack;
  FrameId leaf{};             // of `stack`
  uint32_t row = UINT32_MAX;  // the caller's: where it last counted this stack
};

// Not thread-safe. Memory: 8 × kMaxWords bytes and their index, as they are needed; when it would
// be more, all is forgotten and found anew.
class ChainCache {
 public:
  static constexpr size_t kMaxWords = size_t{6} << 20;

  ChainCache() { words_.reserve(kMaxWords + kRoom); }

  // To be called before every kSearches calls of FindOrMake: forgets all where there might not be
  // room for so many chains. References that FindOrMake gave hold until then.
  void MakeRoom() {
    if (words_.size() > kMaxWords) Clear();
  }
  static constexpr size_t kSearches = 32;

  // Two steps, to be taken some time before FindOrMake, that bring near what it will look at.
  void PrefetchSlot(uint64_t hash) const { index_.Prefetch(hash); }
  void PrefetchWords(uint64_t hash) {
    const uint32_t at = index_.Candidate(hash);
    if (at == UINT32_MAX) return;
    __builtin_prefetch(words_.data() + at);
    __builtin_prefetch(words_.data() + at + 8);
  }

  // What was last remembered for this chain, whose hash is given; else what `make()` returns is
  // remembered.
  template <class Make>
  KnownStack& FindOrMake(const RawChain& chain, uint64_t hash, Make make) {
    const uint32_t at = index_.FindOrInsert(
        hash, [&](uint32_t candidate) { return Equals(candidate, chain); },
        [&] { return Remember(chain, make()); });
    return KnownAt(at).stack;
  }

 private:
  struct Known {
    uint64_t process_generation, kernel_generation;
    KnownStack stack;
    uint32_t size : 24;
    uint32_t mode : 8;
  };
  static constexpr size_t kKnownWords = sizeof(Known) / 8;
  static_assert(sizeof(Known) % 8 == 0);
  // A chain fills at most a record, or two when a deferred one was joined to it.
  static constexpr size_t kRoom = kSearches * (kKnownWords + 2 * perf_event::kMaxRecordSize / 8);

  Known& KnownAt(uint32_t word) { return *reinterpret_cast<Known*>(words_.data() + word); }
  bool Equals(uint32_t word, const RawChain& chain);
  uint32_t Remember(const RawChain& chain, const KnownStack& stack);
  void Clear();

  DenseIndex index_;            // to words_
  HugeVector<uint64_t> words_;  // never moves
};

}  // namespace profiler::profile
