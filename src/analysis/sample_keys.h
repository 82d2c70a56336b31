// The keys of samples. Each sample counts as self for one key. It also counts in the total of
// further keys, because callers include their callees.

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace profiler::analysis {

using KeyId = uint32_t;
inline constexpr KeyId kNoKey = std::numeric_limits<KeyId>::max();

// A table of the keys of one event's rows. Rows are indices into Profile::rows. Reading is
// thread-safe.
class SampleKeys {
 public:
  virtual ~SampleKeys() = default;

  // Returns the number of keys. Keys are numbers from 0 to one less than this number.
  virtual size_t keys() const = 0;
  // True if the row's samples are part of the 100 %.
  virtual bool IsCounted(uint32_t /*row*/) const { return true; }
  // Returns the key for the row's self count; kNoKey: none.
  virtual KeyId OwnKeyOf(uint32_t row) const = 0;
  // Returns the distinct keys of the row, including its own key; empty if it has none.
  virtual std::span<const KeyId> KeysOf(uint32_t row) const = 0;

 protected:
  SampleKeys() = default;
  SampleKeys(const SampleKeys&) = default;
  SampleKeys& operator=(const SampleKeys&) = default;
};

}  // namespace profiler::analysis
