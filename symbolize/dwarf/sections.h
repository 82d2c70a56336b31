// The sections of one file that hold debug information, decompressed.

#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "symbolize/elf/elf_image.h"

namespace profiler::symbolize::dwarf {

using Bytes = std::span<const std::byte>;

// Returns the part of `bytes` that begins at `offset`; empty if `bytes` is not longer than that.
inline Bytes BytesFrom(Bytes bytes, uint64_t offset) {
  return offset < bytes.size() ? bytes.subspan(offset) : Bytes();
}

enum class SectionId : uint8_t {
  kInfo,
  kAbbrev,
  kStr,
  kStrOffsets,
  kLine,
  kLineStr,
  kRanges,
  kRngLists,
  kAddr,
  kCuIndex,  // index of the units in a package (.dwp)
};
inline constexpr size_t kSectionCount = 10;

// Returns the name of a section without ".debug_".
std::string_view SectionSuffix(SectionId id);

// The bytes of each section; empty: the file has no such section.
class SectionViews {
 public:
  Bytes& operator[](SectionId id) { return views_[static_cast<size_t>(id)]; }
  Bytes operator[](SectionId id) const { return views_[static_cast<size_t>(id)]; }

 private:
  std::array<Bytes, kSectionCount> views_;
};

class Sections {
 public:
  // Loads the sections `.debug_NAME`; if `split` is true, `.debug_NAME.dwo`. Decompresses sections
  // with SHF_COMPRESSED (zlib or zstd), and sections `.zdebug_NAME`. A section is empty if it does
  // not exist or cannot be decompressed. String tables end with their last NUL. Allocates at most
  // kMaxExpansion bytes per byte of a section, and MostDecompressed bytes in total; sections that
  // exceed these limits are empty. The image's bytes must outlive the result.
  static Sections Load(const ElfImage& image, bool split);

  // Limit on the expansion of one compressed section.
  static constexpr uint64_t kMaxExpansion = 256;

  const SectionViews& views() const { return views_; }
  Bytes operator[](SectionId id) const { return views_[id]; }

 private:
  SectionViews views_;
  std::deque<std::vector<std::byte>> decompressed_;  // decompressed sections that views_ points to
};

// Returns true if the file has debug information. Decompresses nothing.
bool HasDebugInfo(const ElfImage& image);

}  // namespace profiler::symbolize::dwarf
