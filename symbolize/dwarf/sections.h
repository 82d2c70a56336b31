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

// From `offset` on; empty where there is nothing.
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
  kCuIndex,  // of a package of split units (.dwp)
};
inline constexpr size_t kSectionCount = 10;

// What stands behind ".debug_" in the name of a section.
std::string_view SectionSuffix(SectionId id);

// The bytes of each section; empty where there is none.
class SectionViews {
 public:
  Bytes& operator[](SectionId id) { return views_[static_cast<size_t>(id)]; }
  Bytes operator[](SectionId id) const { return views_[static_cast<size_t>(id)]; }

 private:
  std::array<Bytes, kSectionCount> views_;
};

class Sections {
 public:
  // `.debug_NAME`, compressed by any of the three ways (SHF_COMPRESSED with zlib or zstd,
  // .zdebug_NAME), or in a split file `.debug_NAME.dwo`. A section that does not exist, or cannot
  // be decompressed, is empty. String tables end with their last NUL. The image's bytes must
  // outlive this. Allocates at most kMaxExpansion bytes for a byte of a section, and for all of
  // them MostDecompressed: sections for which nothing is left are empty.
  static Sections Load(const ElfImage& image, bool split);

  // Of several compressed sections a file has, each becomes no larger than this many times what it
  // was.
  static constexpr uint64_t kMaxExpansion = 256;

  const SectionViews& views() const { return views_; }
  Bytes operator[](SectionId id) const { return views_[id]; }

 private:
  SectionViews views_;
  std::deque<std::vector<std::byte>> decompressed_;  // owns what `views_` shows
};

// Whether there is debug information in the file at all. Decompresses nothing.
bool HasDebugInfo(const ElfImage& image);

}  // namespace profiler::symbolize::dwarf
