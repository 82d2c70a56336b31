// Finds the dense id of a value that is kept elsewhere, in a vector that the ids index.
//
//   slots   ┌───────┬─────────┐
//           │ tag   │ id + 1  │   tag: half of the value's hash, so that the value itself is looked
//           │ …     │ 0       │   at about once a look-up, and never when the table grows
//           └───────┴─────────┘
//
// Eight bytes a slot, at most half of them used. Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace profiler::profile {

// One step of a 64-bit hash: the folded 128-bit product, which depends on every bit of both.
inline uint64_t Mix(uint64_t a, uint64_t b) {
  const auto product =
      static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15) * (b ^ 0xe7037ed1a0b428db);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Of whole u64s.
inline uint64_t HashWords(std::span<const std::byte> bytes, uint64_t seed) {
  uint64_t hash = Mix(seed, bytes.size());
  const std::byte* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 16; left -= 16, at += 16) {
    uint64_t words[2];
    std::memcpy(words, at, 16);
    hash = Mix(words[0] ^ hash, words[1]);
  }
  if (left >= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    hash = Mix(word, hash);
  }
  return hash;
}

// Not thread-safe.
class DenseIndex {
 public:
  // The id, among those inserted under this hash, for which `equal(id)` holds; else that of
  // `make()`, which appends the value and returns its id.
  template <class Equal, class Make>
  uint32_t FindOrInsert(uint64_t hash, Equal equal, Make make) {
    const auto tag = static_cast<uint32_t>(hash >> 32);
    size_t at = tag & (slots_.size() - 1);
    for (; slots_[at].id_plus_one != 0; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].tag == tag && equal(slots_[at].id_plus_one - 1)) {
        return slots_[at].id_plus_one - 1;
      }
    }
    const uint32_t id = make();
    slots_[at] = {tag, id + 1};
    if (++used_ * 2 > slots_.size()) Grow();
    return id;
  }

  // Forgets all, and gives the memory back.
  void Clear() { *this = DenseIndex(); }

 private:
  struct Slot {
    uint32_t tag = 0;
    uint32_t id_plus_one = 0;
  };

  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.id_plus_one == 0) continue;
      size_t at = slot.tag & (slots_.size() - 1);
      while (slots_[at].id_plus_one != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1024);  // a power of two
  size_t used_ = 0;
};

}  // namespace profiler::profile
