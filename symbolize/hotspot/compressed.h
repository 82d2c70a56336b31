// Reads integers that HotSpot packs into debug information and line tables, in one to five bytes
// each; small numbers take few.
//
//   a byte b below 192 ends a number; each byte counts b (since JDK 20: b − 1) times 64^position
//
// Source: src/hotspot/share/code/compressedStream.hpp, JDK 17; utilities/unsigned5.hpp, JDK 25.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace profiler::symbolize::hotspot {

class CompressedReader {
 public:
  CompressedReader(std::span<const std::byte> bytes, int version)
      : bytes_(bytes), excluded_(version >= 20 ? 1 : 0) {}

  std::optional<uint8_t> Byte() {
    if (next_ >= bytes_.size()) return std::nullopt;
    return static_cast<uint8_t>(bytes_[next_++]);
  }

  std::optional<uint32_t> Unsigned() {
    constexpr uint8_t kFirstOfMore = 192;
    constexpr int kMostBytes = 5;
    uint32_t value = 0;
    for (int i = 0; i < kMostBytes; ++i) {
      const std::optional<uint8_t> byte = Byte();
      if (!byte || *byte < excluded_) return std::nullopt;
      value += static_cast<uint32_t>(*byte - excluded_) << (6 * i);
      if (*byte < kFirstOfMore) break;
    }
    return value;
  }

  std::optional<int32_t> Signed() {
    const std::optional<uint32_t> value = Unsigned();
    if (!value) return std::nullopt;
    return static_cast<int32_t>(*value >> 1) ^ -static_cast<int32_t>(*value & 1);
  }

 private:
  const std::span<const std::byte> bytes_;
  size_t next_ = 0;
  const uint8_t excluded_;  // number of byte values that are never used
};

}  // namespace profiler::symbolize::hotspot
