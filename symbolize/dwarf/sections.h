// The sections of one file that hold debug information, decompressed.

#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <vector>

#include "symbolize/dwarf/cursor.h"
#include "symbolize/elf_image.h"

namespace profiler::symbolize::dwarf {

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
  kAranges,
  kCuIndex,  // of a package of split units (.dwp)
};
inline constexpr size_t kSectionCount = 11;

class Sections {
 public:
  Sections() = default;
  Sections(Sections&&) = default;
  Sections& operator=(Sections&&) = default;

  // `.debug_NAME`, compressed by any of the three ways (SHF_COMPRESSED with zlib or zstd,
  // .zdebug_NAME), or in a split file `.debug_NAME.dwo`. What is not there, or cannot be
  // decompressed, is empty. The image's bytes must outlive this. Allocates at most kMaxExpansion
  // bytes for a byte of the file.
  static Sections Load(const ElfImage& image, bool split);

  // Of several compressed sections a file has, each becomes no larger than this many times what it
  // was.
  static constexpr uint64_t kMaxExpansion = 256;

  Bytes operator[](SectionId id) const { return sections_[static_cast<size_t>(id)]; }

 private:
  std::array<Bytes, kSectionCount> sections_;
  std::deque<std::vector<std::byte>> decompressed_;  // owns what `sections_` shows
};

// Whether there is debug information in the file at all. Decompresses nothing.
bool HasDebugInfo(const ElfImage& image);

}  // namespace profiler::symbolize::dwarf
