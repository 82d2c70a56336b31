// The contents of a section, decompressed where it is compressed.
//
//   SHF_COMPRESSED   Elf64_Chdr {u32 type, u32 reserved, u64 size, u64 alignment}, then zlib or
//   zstd .zdebug_…        "ZLIB", u64 size with the high byte first, then zlib: what Go wrote for
//   long
//
// Source: System V ABI, chapter 4, "Section Compression".
//
// Private to this package.

#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "symbolize/elf_image.h"

namespace profiler::symbolize {

// A moved vector keeps its bytes where they are, so `bytes` stays good.
struct SectionContents {
  std::span<const std::byte> bytes;  // in the file, or of `owned`
  std::vector<std::byte> owned;
};

// Of the section `name` (".debug_frame"); empty where there is none, or where it cannot be
// decompressed, or would be larger than 1 GiB or than its compression can make it.
SectionContents ReadSectionContents(const ElfImage& image, std::string_view name);

}  // namespace profiler::symbolize
