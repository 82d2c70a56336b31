// Finds ELF files inside archives: libraries that are mapped directly from an uncompressed zip file
// (Android's APK).
//
//   app.apk   PK… │ other files │ padding │ ELF header … code … │ other files
//                                         ▲ start, at a page   ▲ offset of a mapping
//
// A mapping has an offset in the archive. Its ELF file is the nearest one that begins before the
// offset and has executable code there.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "src/base/address.h"
#include "symbolize/elf/elf_image.h"

namespace profiler::symbolize {

struct EmbeddedElf {
  uint64_t start = 0;  // offset in the archive
  ElfImage elf;        // made of the bytes from `start` to the archive's end
};

// Largest distance in bytes from the start of the ELF file to the offset.
inline constexpr uint64_t kLargestEmbedded = uint64_t{512} << 20;

// Returns the ELF file in `bytes` that contains the code at `offset`. Empty if there is none or if
// `bytes` is no zip file. `bytes` must outlive the result. Cost: one look at each page before the
// offset.
std::optional<EmbeddedElf> FindEmbeddedElf(std::span<const std::byte> bytes, FileOffset offset);

// Returns true if an executable segment, in whole pages, contains `offset` of the ELF file.
bool HasCodeAt(const ElfImage& elf, FileOffset offset);

}  // namespace profiler::symbolize
