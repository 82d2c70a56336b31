// The contents of a section, decompressed where it is compressed.
//
//   SHF_COMPRESSED   Elf64_Chdr {u32 type, u32 reserved, u64 size, u64 alignment} or
//                    Elf32_Chdr {u32 type, u32 size, u32 alignment}, then zlib or zstd
//   .zdebug_…        "ZLIB", u64 size with the high byte first, then zlib: what Go wrote for long
//
// Source: System V ABI, chapter 4, "Section Compression".

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "symbolize/elf/elf_image.h"

namespace profiler::symbolize {

// How large what is decompressed may become. A section that says that it is larger is not believed,
// and nothing is allocated for it.
struct SectionBounds {
  uint64_t expansion = 256;     // times its size in the file
  uint64_t bytes = UINT64_MAX;  // by itself
};

// How large all that is decompressed of a file may become together: 16 MiB, and 32 times what the
// file has on disk, which is several times what compilers' sections become; but not above 4 GiB.
uint64_t MostDecompressed(const ElfImage& image);

// What is decompressed has room behind it that libdw 0.188 may read, whatever is there.
inline constexpr size_t kReadableBehind = 16;

// A moved vector keeps its bytes where they are, so `bytes` stays good.
struct SectionContents {
  std::span<const std::byte> bytes;  // in the file, or of `owned`
  std::vector<std::byte> owned;
};

// Of the section `name` (".debug_frame"), or of its ".z" form; empty where there is none, or where
// it cannot be decompressed or is larger than `bounds`. The image's bytes must outlive the result.
SectionContents ReadSectionContents(const ElfImage& image, std::string_view name,
                                    const SectionBounds& bounds);

}  // namespace profiler::symbolize
