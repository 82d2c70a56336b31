#include "symbolize/elf/section_contents.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "src/base/byte_reader.h"
#include "symbolize/elf/libelf_file.h"

namespace profiler::symbolize {
namespace {

constexpr uint32_t kCompressZstd = 2;  // ELFCOMPRESS_ZSTD, newer than this glibc

using Bytes = std::span<const std::byte>;

// Reads the header of compressed contents into `header`. Returns the size of the header in bytes; 0
// if it is invalid.
size_t ReadHeader(const ElfImage& image, const ElfSection& section, GElf_Chdr* header) {
  const LibelfFile file(image.bytes());
  Elf_Scn* const read = elf_getscn(file.get(), &section - image.sections().data());
  if (gelf_getchdr(read, header) == nullptr) return 0;
  return gelf_fsize(file.get(), ELF_T_CHDR, 1, EV_CURRENT);
}

size_t ReadGnuHeader(const ElfSection& section, GElf_Chdr* header) {
  ByteReader reader(section.contents);
  if (TextOf(reader.ReadBytes(4)) != "ZLIB") return 0;
  *header = {.ch_type = ELFCOMPRESS_ZLIB};
  for (int i = 0; i < 8; ++i) header->ch_size = header->ch_size << 8 | reader.Read<uint8_t>();
  return reader.offset();
}

// Does not use elf_compress: it writes to the section's header, and the file is mapped read-only.
bool Inflate(Bytes packed, std::vector<std::byte>& plain) {
  uLongf size = plain.size();
  return uncompress(reinterpret_cast<Bytef*>(plain.data()), &size,
                    reinterpret_cast<const Bytef*>(packed.data()), packed.size()) == Z_OK &&
         size == plain.size();
}

bool Unzstd(Bytes packed, std::vector<std::byte>& plain) {
  const size_t size = ZSTD_decompress(plain.data(), plain.size(), packed.data(), packed.size());
  return ZSTD_isError(size) == 0 && size == plain.size();
}

SectionContents Decompress(const GElf_Chdr& header, Bytes packed, const SectionBounds& bounds) {
  SectionContents contents;
  const bool zstd = header.ch_type == kCompressZstd;
  if (!zstd && header.ch_type != ELFCOMPRESS_ZLIB) return contents;
  if (header.ch_size == 0 || header.ch_size > bounds.bytes ||
      header.ch_size > packed.size() * bounds.expansion) {
    return contents;
  }
  std::vector<std::byte> plain;
  plain.reserve(header.ch_size + kReadableBehind);
  plain.resize(header.ch_size);
  if (!(zstd ? Unzstd(packed, plain) : Inflate(packed, plain))) return contents;
  contents.owned = std::move(plain);
  contents.bytes = contents.owned;
  return contents;
}

}  // namespace

uint64_t MostDecompressed(const ElfImage& image) {
  constexpr uint64_t kAlways = uint64_t{16} << 20, kMost = uint64_t{4} << 30, kTimes = 32;
  return kAlways + std::min(kMost - kAlways, image.solid_size() * kTimes);
}

SectionContents ReadSectionContents(const ElfImage& image, std::string_view name,
                                    const SectionBounds& bounds) {
  const ElfSection* section = image.FindSection(name);
  const bool gnu = section == nullptr && name.starts_with(".debug_");
  if (gnu) section = image.FindSection(".z" + std::string(name.substr(1)));
  if (section == nullptr) return {};
  if (!gnu && (section->flags & SHF_COMPRESSED) == 0) return {section->contents, {}};
  GElf_Chdr header;
  const size_t skipped =
      gnu ? ReadGnuHeader(*section, &header) : ReadHeader(image, *section, &header);
  if (skipped == 0 || skipped > section->contents.size()) return {};
  return Decompress(header, section->contents.subspan(skipped), bounds);
}

}  // namespace profiler::symbolize
