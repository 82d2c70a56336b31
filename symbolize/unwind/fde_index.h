// An index of the functions in a FrameSection, sorted by address.
//
//   entry   i32 start − base, i32 FDE − entry base      sorted by start
//
// .eh_frame_hdr contains such a table; a look-up reads only a few of its entries. If the table is
// missing or has another format, an index is made.
//
// Source: Linux Standard Base core 5.0, 10.6.2.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "symbolize/unwind/frame_section.h"

namespace profiler::symbolize {

class FdeIndex {
 public:
  // Uses the table in `header`, the contents of .eh_frame_hdr at memory address `address`. Empty if
  // the table does not have the format above.
  static std::optional<FdeIndex> FromHeader(std::span<const std::byte> header, uint64_t address,
                                            const FrameSection& section);
  // Makes an index by reading the whole section, but at most 2^24 entries and at most `most`
  // entries. Leaves out functions that are more than 2 GiB away from the first function. Uses at
  // most kBytesOfScan bytes of memory per entry while it runs.
  static FdeIndex Scan(const FrameSection& section, uint64_t most = UINT64_MAX);
  static constexpr size_t kBytesOfScan = 32;

  FdeIndex(FdeIndex&&) = default;
  FdeIndex& operator=(FdeIndex&&) = default;

  size_t size() const { return count_; }
  // Returns the last function that starts at or before `address`.
  std::optional<size_t> Find(uint64_t address) const;
  uint64_t Start(size_t function) const {
    return base_ + static_cast<uint64_t>(int64_t{EntryAt(function).start});
  }
  // Returns the offset of the function's FDE in the section. It may be out of bounds in a corrupt
  // file.
  uint64_t Offset(size_t function) const {
    return fde_base_ + static_cast<uint64_t>(int64_t{EntryAt(function).fde});
  }
  // Returns the number of entries that Scan read.
  uint64_t scanned() const { return scanned_; }
  size_t memory_used() const { return own_.capacity() * sizeof(Entry); }

 private:
  struct Entry {
    int32_t start = 0;
    int32_t fde = 0;
  };
  FdeIndex() = default;
  Entry EntryAt(size_t i) const;

  std::span<const std::byte> in_file_;  // entries in .eh_frame_hdr; empty: own_ has the entries
  std::vector<Entry> own_;              // entries that Scan made
  size_t count_ = 0;
  uint64_t scanned_ = 0;
  uint64_t base_ = 0;
  uint64_t fde_base_ = 0;  // fde_base_ + Entry::fde is the FDE's offset in the section
};

}  // namespace profiler::symbolize
