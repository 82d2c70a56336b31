// Reads DWARF's variable-length numbers from untrusted bytes. Failure is sticky, as in ByteReader.
//
// Source: DWARF 5, 7.6; Linux Standard Base core 5.0, 10.5 (DW_EH_PE_*).
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/base/byte_reader.h"

namespace profiler::symbolize {

// DW_EH_PE_*: a pointer's format (low four bits) and its base (next three bits).
inline constexpr uint8_t kPointerAbsolute = 0x00;
inline constexpr uint8_t kPointerPcRelative = 0x10;
inline constexpr uint8_t kPointerDataRelative = 0x30;
inline constexpr uint8_t kPointerIndirect = 0x80;
inline constexpr uint8_t kPointerOmitted = 0xff;
inline constexpr uint8_t kPointerFormat = 0x0f;
inline constexpr uint8_t kPointerSigned4 = 0x0b;

class DwarfReader : public ByteReader {
 public:
  // `address_size` is the size of addresses of the image's architecture in bytes, 4 or 8.
  explicit DwarfReader(std::span<const std::byte> bytes, uint64_t address_size = sizeof(uint64_t))
      : ByteReader(bytes), address_size_(address_size) {}

  uint64_t Address() { return address_size_ == 4 ? Read<uint32_t>() : Read<uint64_t>(); }

  // Reads an unsigned number. Drops bits beyond the lowest 64.
  uint64_t Uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = Read<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  int64_t Sleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = Read<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
  }

  // Reads a pointer in format `encoding`. `here` is the memory address of this reader's first byte,
  // `data` the base of data-relative pointers. Fails for omitted and for indirect pointers.
  uint64_t Pointer(uint8_t encoding, uint64_t here, uint64_t data = 0) {
    if ((encoding & kPointerIndirect) != 0) Fail();
    const uint64_t at = here + offset();
    const uint64_t value = PointerValue(encoding & kPointerFormat);
    switch (encoding & 0x70) {
      case kPointerAbsolute:
        return Cut(value);
      case kPointerPcRelative:
        return Cut(value + at);
      case kPointerDataRelative:
        return Cut(value + data);
      default:
        Fail();
        return 0;
    }
  }

 private:
  // Wraps addresses to their size.
  uint64_t Cut(uint64_t value) const { return address_size_ == 4 ? value & 0xffffffff : value; }

  uint64_t PointerValue(uint8_t format) {
    switch (format) {
      case 0x00:  // absptr
        return Address();
      case 0x04:
      case 0x0c:
        return Read<uint64_t>();
      case 0x01:
        return Uleb();
      case 0x02:
        return Read<uint16_t>();
      case 0x03:
        return Read<uint32_t>();
      case 0x09:
        return static_cast<uint64_t>(Sleb());
      case 0x0a:
        return static_cast<uint64_t>(int64_t{Read<int16_t>()});
      case kPointerSigned4:
        return static_cast<uint64_t>(int64_t{Read<int32_t>()});
      default:
        Fail();
        return 0;
    }
  }

  uint64_t address_size_;
};

}  // namespace profiler::symbolize
