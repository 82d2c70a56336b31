// Which stack a raw call chain was found to be, so that a chain that was seen before is one look-up
// and not one look-up a frame.
//
// A chain means the same stack again when it has the same words, was taken at the same ip, and
// neither its process's address space nor the kernel's has changed since. Chains are not kept: of
// each there is a fingerprint of 128 bits, in the one cache line that also has the answer. That two
// of n chains share one has a probability of n² / 2^129, in a recording made on purpose too: the
// key is drawn anew every time.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/perf_event/records.h"
#include "src/profile/dense_index.h"
#include "src/profile/profile.h"

namespace profiler::profile {

// What decides which stack a sample has, besides the words of its call chain.
struct ChainPlace {
  uint64_t process_generation = 0, kernel_generation = 0;  // of the address spaces
  Mode mode = Mode::kUnknown;                              // of the sample
  uint64_t ip = 0;
};

struct Fingerprint {
  uint64_t high = 0, low = 0;
  bool operator==(const Fingerprint&) const = default;
};

// Makes fingerprints; two of them agree on none.
class FingerprintKey {
 public:
  FingerprintKey();
  // Copies the chain on the way: `copy` has room for it.
  Fingerprint Of(const ChainPlace& place, perf_event::U64Array chain, uint64_t* copy) const;

 private:
  uint64_t seed_[2], key_[2];
};

// What a sample's chain stands for.
struct KnownStack {
  StackId stack = kNoStack;
  FrameId self{};             // of the sample's ip
  uint32_t row = UINT32_MAX;  // the caller's: where it last counted this stack
  bool corrupt = false;       // the chain was not believed
  bool has_chain = false;     // it was, and has an entry
  bool used = false;          // by ChainCache
};

// Not thread-safe. Memory: up to 32 MiB, as it is needed; when it would be more, all is forgotten
// and found anew.
class ChainCache {
 public:
  static constexpr size_t kMaxChains = (size_t{1} << 20) / 8 * 5;

  // To be called before every kSearches calls of FindOrMake: forgets all where there might not be
  // room for so many chains. References that FindOrMake gave hold until then.
  void MakeRoom() {
    if (slots_.used() + kSearches > kMaxChains) slots_ = {};
    slots_.MakeRoom(kSearches);
  }
  static constexpr size_t kSearches = 32;

  Fingerprint FingerprintOf(const ChainPlace& place, perf_event::U64Array chain,
                            uint64_t* copy) const {
    return key_.Of(place, chain, copy);
  }

  // To be called some time before FindOrMake, to bring near what that will look at.
  void Prefetch(const Fingerprint& print) const { slots_.Prefetch(print.high); }

  // What was last remembered for the chain with this fingerprint; else what `make()` returns is
  // remembered.
  template <class Make>
  KnownStack& FindOrMake(const Fingerprint& print, Make make) {
    Slot& slot = slots_.Find(print.high, [&](const Slot& other) { return other.print == print; });
    if (!slot.used()) {
      slot = {print, make()};
      slot.known.used = true;
      slots_.CountNew();
    }
    return slot.known;
  }

 private:
  struct Slot {
    Fingerprint print;
    KnownStack known;
    bool used() const { return known.used; }
    uint32_t tag() const { return SlotTable<Slot>::TagOf(print.high); }
  };
  static_assert(sizeof(Slot) == 32);

  FingerprintKey key_;
  SlotTable<Slot> slots_;
};

}  // namespace profiler::profile
