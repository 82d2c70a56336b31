// ELF files that begin in the middle of another file: libraries that lie in an archive as they are
// (Android's APK, a zip file without compression), and are mapped from there.
//
//   app.apk   PK… │ other files │ padding │ ELF header … code … │ other files
//                                         ▲ start, at a page   ▲ offset of a mapping
//
// A mapping tells where it is in the whole file. Its ELF file is the one that begins nearest before
// it and has executable code there.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "src/base/address.h"
#include "symbolize/elf/elf_image.h"

namespace profiler::symbolize {

struct EmbeddedElf {
  uint64_t start = 0;  // in the file
  ElfImage elf;        // of the bytes from there to the file's end
};

// How far before an offset is looked.
inline constexpr uint64_t kLargestEmbedded = uint64_t{512} << 20;

// The ELF file in `bytes`, which must outlive it, that has the code at `offset`; none where `bytes`
// is an ELF file itself. Cost: a look at each page before the offset.
std::optional<EmbeddedElf> FindEmbeddedElf(std::span<const std::byte> bytes, FileOffset offset);

// Whether an executable segment has the byte at `offset` of the ELF file, in whole pages.
bool HasCodeAt(const ElfImage& elf, FileOffset offset);

}  // namespace profiler::symbolize
