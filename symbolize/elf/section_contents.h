// Reads the contents of a section and decompresses them if necessary.
//
//   SHF_COMPRESSED   Elf64_Chdr {u32 type, u32 reserved, u64 size, u64 alignment} or
//                    Elf32_Chdr {u32 type, u32 size, u32 alignment}, then zlib or zstd
//   .zdebug_…        "ZLIB", u64 size with the high byte first, then zlib; in older Go versions
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

// Limits of the decompressed size. A section that claims more is not read, and nothing is allocated
// for it.
struct SectionBounds {
  uint64_t expansion = 256;     // limit as a multiple of the section's size in the file
  uint64_t bytes = UINT64_MAX;  // limit in bytes
};

// Returns the limit for all decompressed sections of a file together: 16 MiB plus 32 times the
// file's size on disk, at most 4 GiB. Sections of compilers expand to a fraction of that.
uint64_t MostDecompressed(const ElfImage& image);

// Unused bytes after decompressed contents, because libdw 0.188 may read beyond the end.
inline constexpr size_t kReadableBehind = 16;

// Contents of a section. Moving keeps `bytes` valid, because a moved vector keeps its buffer.
struct SectionContents {
  std::span<const std::byte> bytes;  // points into the file or into `owned`
  std::vector<std::byte> owned;
};

// Returns the contents of the section `name`, for example ".debug_frame", or of the compressed
// ".zdebug_frame". Empty if there is no such section, if it cannot be decompressed, or if it
// exceeds `bounds`. The image's bytes must outlive the result.
SectionContents ReadSectionContents(const ElfImage& image, std::string_view name,
                                    const SectionBounds& bounds);

}  // namespace profiler::symbolize
