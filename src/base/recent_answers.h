// In front of a hash table that is asked about a few keys again and again: the samples of one
// thread come in a row on each CPU, so the rows of some CPUs are interleaved.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace profiler {

// The last answer for each key, until another key with the same low bits is asked for. Not
// thread-safe. A look-up is one comparison.
template <class Value, size_t kSlots = 64>
class RecentAnswers {
  static_assert((kSlots & (kSlots - 1)) == 0, "low bits are the slot");

 public:
  // Null where it is not known. Valid until the next Remember or Forget.
  const Value* Find(uint64_t key) const {
    const Slot& slot = slots_[key % kSlots];
    return slot.used && slot.key == key ? &slot.value : nullptr;
  }
  void Remember(uint64_t key, const Value& value) { slots_[key % kSlots] = {key, value, true}; }
  void Forget() { slots_ = {}; }

 private:
  struct Slot {
    uint64_t key = 0;
    Value value{};
    bool used = false;
  };
  std::array<Slot, kSlots> slots_{};
};

}  // namespace profiler
