// The functions of a FrameSection, by address.
//
//   entry   i32 start − base, i32 FDE − entry base      sorted by start
//
// .eh_frame_hdr has such a table ready, so nothing is read from it but what a look-up touches.
// Where it is missing, or is written in another way, one is made.
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
  // The table of `header`, the contents of .eh_frame_hdr, which is at `address` in memory. Empty
  // where it has none of the common encoding.
  static std::optional<FdeIndex> FromHeader(std::span<const std::byte> header, uint64_t address,
                                            const FrameSection& section);
  // Reads through the whole section, as far as 2^24 entries or `most`. Functions farther than 2 GiB
  // from the first are left out. While it reads an entry takes kBytesOfScan bytes at most.
  static FdeIndex Scan(const FrameSection& section, uint64_t most = UINT64_MAX);
  static constexpr size_t kBytesOfScan = 32;

  FdeIndex(FdeIndex&&) = default;
  FdeIndex& operator=(FdeIndex&&) = default;

  size_t size() const { return count_; }
  // The last function that starts at `address` or before it.
  std::optional<size_t> Find(uint64_t address) const;
  uint64_t Start(size_t function) const {
    return base_ + static_cast<uint64_t>(int64_t{EntryAt(function).start});
  }
  // Of its FDE in the section. May be outside in a corrupt file.
  uint64_t Offset(size_t function) const {
    return fde_base_ + static_cast<uint64_t>(int64_t{EntryAt(function).fde});
  }
  // How many entries were read.
  uint64_t scanned() const { return scanned_; }
  size_t memory_used() const { return own_.capacity() * sizeof(Entry); }

 private:
  struct Entry {
    int32_t start = 0;
    int32_t fde = 0;
  };
  FdeIndex() = default;
  Entry EntryAt(size_t i) const;

  std::span<const std::byte> in_file_;  // entries in .eh_frame_hdr
  std::vector<Entry> own_;              // or these
  size_t count_ = 0;
  uint64_t scanned_ = 0;
  uint64_t base_ = 0;
  uint64_t fde_base_ = 0;  // what to add for an offset in the section
};

}  // namespace profiler::symbolize
