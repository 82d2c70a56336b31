// Hash tables from values to dense ids. A report accesses its tables at random, so the number of
// waits for memory decides its speed. Both kinds of table need one slot for a look-up, and can
// prefetch that slot (Prefetch), so that the waits of several look-ups overlap.
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

// Returns the exclusive or of both halves of the 128-bit product. It depends on every bit of both
// factors, unless one of them is 0.
inline uint64_t FoldedProduct(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// A random key, different in each run of the program. Without it, the author of a program could
// choose addresses that all collide. No output depends on the key.
struct HashKey {
  uint64_t a, b;
};
extern const HashKey kHashKey;

// Returns one step of a 64-bit hash.
inline uint64_t Mix(uint64_t a, uint64_t b) {
  return FoldedProduct(a ^ kHashKey.a, b ^ kHashKey.b);
}

// A table whose number of slots is a power of two, at most 5/8 of them used. Slot has `bool used()
// const`, which is false for a new slot, and `uint32_t tag() const`, the upper half of its value's
// hash. The upper bits of the tag give the first slot to probe; the next slots follow one by one.
//
// Because the upper bits give the position, a value moves to about twice its position in a table of
// twice the size. So the table grows in place, from its end: nearly every value moves behind all
// values that have not moved yet.
//
//   before   a b . c d e . f
//   after    a . b . . . . c . d e . . . f .
template <class Slot>
class SlotTable {
 public:
  void Prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[Home(TagOf(hash))]); }

  // Returns the first slot under this hash that `equal` accepts, or the free slot for it.
  template <class Equal>
  Slot& Find(uint64_t hash, Equal equal) {
    size_t at = Home(TagOf(hash));
    while (slots_[at].used() && !equal(slots_[at])) at = Next(at);
    return slots_[at];
  }

  // Counts a free slot that was filled. Slots move, unless MakeRoom has made room for that slot.
  void CountNew() {
    ++used_;
    MakeRoom(0);
  }
  // Makes room for filling `more` free slots. Slots move.
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
    std::vector<Slot> late;  // slots that would move among slots that are not moved yet
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

  // Puts the value into the first free slot from `at` on. Returns false if there is none.
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

// A table of ids of values. The values are kept outside, in a vector indexed by the ids. A slot has
// half of the value's hash, so a look-up compares about one value. Not thread-safe.
class DenseIndex {
 public:
  void Prefetch(uint64_t hash) const { slots_.Prefetch(hash); }

  // Returns the id inserted under this hash for which `equal(id)` is true. If there is none,
  // inserts the result of `make()`, which must append the value and return its id.
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

// A table of ids of small values, which are stored in the slots. Key has == and `uint64_t Hash()
// const`. Not thread-safe.
template <class Key>
class KeyIndex {
 public:
  void Prefetch(uint64_t hash) const { slots_.Prefetch(hash); }

  // Returns the id of the key. If there is none, inserts the result of `make()`. `hash` is
  // key.Hash().
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
