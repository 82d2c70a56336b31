// Hash tables from values to dense ids. A report touches its tables at random, so what counts is
// how often a look-up must wait for memory: both kinds answer with one slot, and say beforehand
// which (Prefetch), so that the waits of several look-ups overlap.
//
// Measured: user and system time of `profiler report -i FILE` and `profiler script -i FILE`, FILE
// with 1.48 million samples of `perf record -a -F 25000 -g`, without sums; minimum (median) of 7
// runs in turns.
//
//   seconds                          report         script
//   these tables                   1.48 (1.56)    2.02 (2.49)
//   absl::flat_hash_map instead    1.68 (1.95)    2.25 (2.44)
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "src/base/huge_vector.h"

namespace profiler::profile {

// Both halves of the product of 128 bits, which depends on every bit of both factors that are not
// 0.
inline uint64_t FoldedProduct(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Random, and another one in each run of the program: whoever chooses the addresses of a program
// cannot choose them so that all are looked for at one place. Nothing that is shown depends on it.
struct HashKey {
  uint64_t a, b;
};
extern const HashKey kHashKey;

// One step of a 64-bit hash.
inline uint64_t Mix(uint64_t a, uint64_t b) {
  return FoldedProduct(a ^ kHashKey.a, b ^ kHashKey.b);
}

// Slots of a power of two, at most 5/8 of them used. Slot has `bool used() const`, false of a
// new one, and `uint32_t tag() const`, the upper half of its value's hash, of which
// the upper bits say at which slot to begin; from there they are probed one by one.
//
// As the upper bits are the place, a table twice as large has everything at about twice its place.
// So it grows where it is, from its end on: what is moved finds no slot before its own that is not
// moved yet.
//
//   before   a b . c d e . f
//   after    a . b . . . . c . d e . . . f .
template <class Slot>
class SlotTable {
 public:
  void Prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[Home(TagOf(hash))]); }

  // The first slot under this hash that `equal` accepts, or the free one where it would be.
  template <class Equal>
  Slot& Find(uint64_t hash, Equal equal) {
    size_t at = Home(TagOf(hash));
    while (slots_[at].used() && !equal(slots_[at])) at = Next(at);
    return slots_[at];
  }

  // To be called after a free slot was filled. Slots move, unless MakeRoom was called for it.
  void CountNew() {
    ++used_;
    MakeRoom(0);
  }
  // Before `more` free slots are filled. Slots move.
  void MakeRoom(size_t more) {
    while ((used_ + more) * 8 > slots_.size() * 5) Grow();
  }
  size_t used() const { return used_; }

  static uint32_t TagOf(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

 private:
  size_t Home(uint32_t tag) const { return tag >> shift_; }
  size_t Next(size_t at) const { return (at + 1) & (slots_.size() - 1); }

  void Grow() {
    const size_t before = slots_.size();
    slots_.resize(2 * before);
    --shift_;
    std::vector<Slot> late;  // whose place would be among those not moved yet
    for (size_t i = before; i-- > 0;) {
      const Slot slot = slots_[i];
      if (!slot.used()) continue;
      slots_[i] = Slot{};
      const size_t home = Home(slot.tag());
      if (home < i || !PutUpwards(home, slot)) late.push_back(slot);
    }
    for (const Slot& slot : late) {
      size_t at = Home(slot.tag());
      while (slots_[at].used()) at = Next(at);
      slots_[at] = slot;
    }
  }

  // False where there is no free slot up to the end.
  bool PutUpwards(size_t at, const Slot& slot) {
    while (at < slots_.size() && slots_[at].used()) ++at;
    if (at == slots_.size()) return false;
    slots_[at] = slot;
    return true;
  }

  static constexpr int kFirstBits = 10;

  HugeVector<Slot> slots_ = HugeVector<Slot>(size_t{1} << kFirstBits);
  int shift_ = 32 - kFirstBits;
  size_t used_ = 0;
};

// For values that are kept elsewhere, in a vector that the ids index. A slot has half of the
// value's hash, so the value itself is looked at about once a look-up. Not thread-safe.
class DenseIndex {
 public:
  void Prefetch(uint64_t hash) const { slots_.Prefetch(hash); }

  // The id, among those inserted under this hash, for which `equal(id)` holds; else that of
  // `make()`, which appends the value and returns its id.
  template <class Equal, class Make>
  uint32_t FindOrInsert(uint64_t hash, Equal equal, Make make) {
    const uint32_t tag = Slots::TagOf(hash);
    Slot& slot = slots_.Find(hash, [&](const Slot& other) {
      return other.stored_tag == tag && equal(other.id_plus_one - 1);
    });
    if (slot.id_plus_one != 0) return slot.id_plus_one - 1;
    const uint32_t id = make();
    slot = {tag, id + 1};
    slots_.CountNew();
    return id;
  }

 private:
  struct Slot {
    uint32_t stored_tag = 0;
    uint32_t id_plus_one = 0;
    bool used() const { return id_plus_one != 0; }
    uint32_t tag() const { return stored_tag; }
  };
  using Slots = SlotTable<Slot>;

  Slots slots_;
};

// For small values: slots have them whole. Key has == and `uint64_t Hash() const`. Not thread-safe.
template <class Key>
class KeyIndex {
 public:
  void Prefetch(uint64_t hash) const { slots_.Prefetch(hash); }

  // The id of this key, else that of `make()`. `hash` is key.Hash().
  template <class Make>
  uint32_t FindOrInsert(const Key& key, uint64_t hash, Make make) {
    Slot& slot = slots_.Find(hash, [&](const Slot& other) { return other.key == key; });
    if (slot.id_plus_one != 0) return slot.id_plus_one - 1;
    const uint32_t id = make();
    slot = {key, id + 1};
    slots_.CountNew();
    return id;
  }

 private:
  struct Slot {
    Key key;
    uint32_t id_plus_one = 0;
    bool used() const { return id_plus_one != 0; }
    uint32_t tag() const { return SlotTable<Slot>::TagOf(key.Hash()); }
  };

  SlotTable<Slot> slots_;
};

}  // namespace profiler::profile
