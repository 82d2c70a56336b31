// Remembers each raw call chain, so that a known chain costs one look-up instead of one per frame.
//
// A chain has the same stack again if its words and its ip are the same, and if the address spaces
// of its process and of the kernel have not changed since. The cache keeps a fingerprint of 128
// bits instead of the chain, in the same cache line as the chain's number. Among n chains, two have
// the same fingerprint with probability n² / 2^129. That also holds for a malicious recording,
// because each run draws a new random key.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/format/perf_event/records.h"
#include "src/profile/dense_index.h"
#include "src/profile/profile.h"

namespace profiler::profile {

// The facts that decide a sample's stack, besides the words of its call chain.
struct ChainPlace {
  uint64_t process_generation = 0, kernel_generation = 0;  // generations of the address spaces
  Mode mode = Mode::kUnknown;                              // mode of the sample
  uint64_t ip = 0;
};

struct Fingerprint {
  uint64_t high = 0, low = 0;
  bool operator==(const Fingerprint&) const = default;
};

// A random key, and the fingerprints made with it.
class FingerprintKey {
 public:
  FingerprintKey();
  // Returns the chain's fingerprint, and copies the chain to `copy`, which must have room for it.
  Fingerprint Of(const ChainPlace& place, perf_event::U64Array chain, uint64_t* copy) const;

 private:
  uint64_t seed_[2], key_[2];
};

// A chain that was resolved.
struct KnownChain {
  uint32_t number = 0;     // chains are numbered by the caller
  FrameId self{};          // frame of the sample's ip
  bool corrupt = false;    // True if the chain is corrupt.
  bool has_chain = false;  // True if the chain is not corrupt and has an entry.
  bool used = false;       // True if ChainCache uses this slot.
};

// A cache of chains. Not thread-safe. Grows to at most 32 MiB; instead of growing further, it
// forgets all chains.
class ChainCache {
 public:
  static constexpr size_t kMaxChains = (size_t{1} << 20) / 8 * 5;

  // Makes room for kSearches new chains; call it before every kSearches calls of FindOrMake. Forgets
  // all chains if IsFull. References returned by FindOrMake are valid until the next MakeRoom.
  void MakeRoom() {
    if (IsFull()) slots_ = {};
    slots_.MakeRoom(kSearches);
  }
  bool IsFull() const { return slots_.used() + kSearches > kMaxChains; }
  static constexpr size_t kSearches = 32;

  Fingerprint FingerprintOf(const ChainPlace& place, perf_event::U64Array chain,
                            uint64_t* copy) const {
    return key_.Of(place, chain, copy);
  }

  // Prefetches the memory for FindOrMake; call it some time before FindOrMake.
  void Prefetch(const Fingerprint& print) const { slots_.Prefetch(print.high); }

  // Returns the chain remembered for this fingerprint. If there is none, remembers the result of
  // `make()`.
  template <class Make>
  KnownChain& FindOrMake(const Fingerprint& print, Make make) {
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
    KnownChain known;
    bool used() const { return known.used; }
    uint32_t tag() const { return SlotTable<Slot>::TagOf(print.high); }
  };
  static_assert(sizeof(Slot) == 32);

  FingerprintKey key_;
  SlotTable<Slot> slots_;
};

}  // namespace profiler::profile
