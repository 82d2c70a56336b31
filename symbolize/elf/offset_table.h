// What addresses of i386 are relative to in code that may lie anywhere.
//
// Source: System V ABI, Intel386 supplement, 4th edition, 5: Global Offset Table.

#pragma once

#include "symbolize/elf/elf_image.h"

namespace profiler::symbolize {

// The section at whose start _GLOBAL_OFFSET_TABLE_ is; null where there is none.
inline const ElfSection* FindGlobalOffsetTable(const ElfImage& image) {
  const ElfSection* const table = image.FindSection(".got.plt");
  return table != nullptr ? table : image.FindSection(".got");
}

}  // namespace profiler::symbolize
