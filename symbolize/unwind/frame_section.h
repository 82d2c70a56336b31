// Reads the entries of .eh_frame and .debug_frame.
//
//   entry   u32 length, or u32 ~0 and u64 length; then as many bytes, a CIE or an FDE:
//   CIE     id, u8 version, text augmentation, (v4: u8 address size, u8 segment size,)
//           uleb code alignment, sleb data alignment, return address column (v1: u8, else uleb),
//           with 'z': uleb size, augmentation data; instructions
//   FDE     position of its CIE, start, size, with 'z': uleb size, augmentation data; instructions
//
//                       .eh_frame                           .debug_frame
//   id of a CIE         u32 0                               ~0, as wide as offsets are
//   the CIE of an FDE   u32 distance back from this field   offset in the section
//   start and size      in the format of the CIE's 'R'      absolute
//   length 0            end mark; more entries may follow   —
//
// Does not use dwarf_next_cfi of libdw (0.188 to 0.192). That function reads a byte per letter of
// the augmentation without a check that the byte exists, and it stops at length 0.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace profiler::symbolize {

// A CIE: the common part of several functions.
struct CommonEntry {
  uint64_t code_alignment = 1;
  int64_t data_alignment = 1;
  uint8_t return_address = 0;  // column of the return address; 255: larger than all registers
  uint8_t pointer_encoding = 0;
  bool has_augmentation_data = false;
  bool signal_frame = false;
  std::span<const std::byte> instructions;
};

// An FDE: one function, or part of one.
struct FunctionEntry {
  uint64_t start = 0, size = 0;
  CommonEntry common;
  std::span<const std::byte> instructions;
};

// A view of a section. Not thread-safe, because it caches the CIE that was read last.
class FrameSection {
 public:
  enum Kind { kEhFrame, kDebugFrame };
  // `address` is the section's address in memory, `address_size` the size of addresses in bytes.
  FrameSection(Kind kind, std::span<const std::byte> bytes, uint64_t address,
               uint64_t address_size = sizeof(uint64_t))
      : kind_(kind), bytes_(bytes), address_(address), address_size_(address_size) {}

  std::span<const std::byte> bytes() const { return bytes_; }
  uint64_t address() const { return address_; }
  uint64_t address_size() const { return address_size_; }

  // Returns the FDE at `offset`; empty for a CIE and for invalid entries.
  std::optional<FunctionEntry> ReadFunction(uint64_t offset) const;

  // Returns the offset of the entry that follows the entry at `offset`. The result is greater than
  // `offset`. Empty after the last entry, and if the entry's length is invalid.
  std::optional<uint64_t> Next(uint64_t offset) const;

 private:
  struct Entry;
  std::optional<Entry> ReadEntry(uint64_t offset) const;
  std::optional<CommonEntry> ReadCommon(uint64_t offset) const;
  std::optional<CommonEntry> ParseCommon(const Entry& entry) const;

  Kind kind_;
  std::span<const std::byte> bytes_;
  uint64_t address_;
  uint64_t address_size_;
  // Neighbouring FDEs share their CIE.
  mutable uint64_t last_common_offset_ = ~uint64_t{0};
  mutable std::optional<CommonEntry> last_common_;
};

}  // namespace profiler::symbolize
