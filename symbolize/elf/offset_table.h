// Finds the base that position-independent i386 code uses for addresses.
//
// Source: System V ABI, Intel386 supplement, 4th edition, 5: Global Offset Table.

#pragma once

#include "symbolize/elf/elf_image.h"

namespace profiler::symbolize {

// Returns the section that starts at _GLOBAL_OFFSET_TABLE_; null if the image has none.
inline const ElfSection* FindGlobalOffsetTable(const ElfImage& image) {
  const ElfSection* const table = image.FindSection(".got.plt");
  return table != nullptr ? table : image.FindSection(".got");
}

}  // namespace profiler::symbolize
