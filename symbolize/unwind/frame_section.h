// The entries of .eh_frame or .debug_frame.
//
//   entry   u32 length, or ~0 and u64 length; then of that length:
//   CIE     id, u8 version, text augmentation, (v4: u8 address size, u8 segment size,)
//           uleb code alignment, sleb data alignment, return address column (v1: u8, else uleb),
//           with 'z': uleb size, augmentation data; instructions
//   FDE     where its CIE is, start, size, with 'z': uleb size, augmentation data; instructions
//
//                       .eh_frame                           .debug_frame
//   id of a CIE         u32 0                               ~0, as wide as offsets are
//   the CIE of an FDE   u32 distance back from this field   offset in the section
//   start and size      as the CIE's 'R' says               absolute
//   length 0            an end, after which may come more   —
//
// Not by dwarf_next_cfi of libdw (0.188 to 0.192), which reads a byte for each letter of the
// augmentation before it looks whether there is one, and stops at length 0.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace profiler::symbolize {

// A CIE: what functions have in common.
struct CommonEntry {
  uint64_t code_alignment = 1;
  int64_t data_alignment = 1;
  uint8_t return_address = 0;  // column; 255 where it is too high to be any
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

// A view; immutable but for the CIE that was read last. Not thread-safe.
class FrameSection {
 public:
  enum Kind { kEhFrame, kDebugFrame };
  // `address` is where the section is in memory, `address_size` how many bytes addresses have.
  FrameSection(Kind kind, std::span<const std::byte> bytes, uint64_t address,
               uint64_t address_size = sizeof(uint64_t))
      : kind_(kind), bytes_(bytes), address_(address), address_size_(address_size) {}

  std::span<const std::byte> bytes() const { return bytes_; }
  uint64_t address() const { return address_; }
  uint64_t address_size() const { return address_size_; }

  // The FDE at `offset`; empty for a CIE and for what makes no sense.
  std::optional<FunctionEntry> ReadFunction(uint64_t offset) const;

  // The offset after the entry at `offset`, empty at the end or where the length makes no sense.
  // Always greater than `offset`.
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
  // Neighbours share their CIE.
  mutable uint64_t last_common_offset_ = ~uint64_t{0};
  mutable std::optional<CommonEntry> last_common_;
};

}  // namespace profiler::symbolize
