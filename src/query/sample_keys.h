// What the samples of a profile's rows are counted for: each for one key as its own, and for others
// that have a part in it, as callers have in what they called.

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace profiler::query {

using KeyId = uint32_t;
inline constexpr KeyId kNoKey = std::numeric_limits<KeyId>::max();

// Of the rows of one event, by index into Profile::rows. Reading is thread-safe.
class SampleKeys {
 public:
  virtual ~SampleKeys() = default;

  // Keys are below it.
  virtual size_t keys() const = 0;
  // Whether the row's samples are among those that 100 % is.
  virtual bool IsCounted(uint32_t /*row*/) const { return true; }
  // kNoKey where the row's samples are counted for none.
  virtual KeyId OwnKeyOf(uint32_t row) const = 0;
  // Distinct; the own one is among them, or there are none.
  virtual std::span<const KeyId> KeysOf(uint32_t row) const = 0;

 protected:
  SampleKeys() = default;
  SampleKeys(const SampleKeys&) = default;
  SampleKeys& operator=(const SampleKeys&) = default;
};

}  // namespace profiler::query
