#include "symbolize/section_contents.h"

#include <elf.h>
#include <zlib.h>
#include <zstd.h>

#include <string>
#include <utility>

#include "src/base/byte_reader.h"

namespace profiler::symbolize {
namespace {

constexpr uint32_t kCompressZstd = 2;  // ELFCOMPRESS_ZSTD, newer than this glibc

using Bytes = std::span<const std::byte>;

// What stands in front of compressed bytes.
struct CompressionHeader {
  uint32_t method = 0;  // ELFCOMPRESS_…
  uint64_t size = 0;    // of what was compressed
};

template <class Chdr>
CompressionHeader ReadChdr(ByteReader& reader) {
  const auto header = reader.Read<Chdr>();
  return {header.ch_type, header.ch_size};
}

CompressionHeader ReadGnuHeader(ByteReader& reader) {
  const bool known = TextOf(reader.ReadBytes(4)) == "ZLIB";
  CompressionHeader header;
  if (known) header.method = ELFCOMPRESS_ZLIB;
  for (int i = 0; i < 8; ++i) header.size = header.size << 8 | reader.Read<uint8_t>();
  return header;
}

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

SectionContents Decompress(const CompressionHeader& header, Bytes packed,
                           const SectionBounds& bounds) {
  SectionContents contents;
  const bool zstd = header.method == kCompressZstd;
  if (!zstd && header.method != ELFCOMPRESS_ZLIB) return contents;
  if (header.size == 0 || header.size > bounds.bytes ||
      header.size > packed.size() * bounds.expansion) {
    return contents;
  }
  std::vector<std::byte> plain(header.size);
  if (!(zstd ? Unzstd(packed, plain) : Inflate(packed, plain))) return contents;
  contents.owned = std::move(plain);
  contents.bytes = contents.owned;
  return contents;
}

}  // namespace

SectionContents ReadSectionContents(const ElfImage& image, std::string_view name,
                                    const SectionBounds& bounds) {
  const ElfSection* section = image.FindSection(name);
  const bool gnu = section == nullptr && name.starts_with(".debug_");
  if (gnu) section = image.FindSection(".z" + std::string(name.substr(1)));
  if (section == nullptr) return {};
  if (!gnu && (section->flags & SHF_COMPRESSED) == 0) return {section->contents, {}};
  ByteReader reader(section->contents);
  const CompressionHeader header = gnu                 ? ReadGnuHeader(reader)
                                   : image.is_64_bit() ? ReadChdr<Elf64_Chdr>(reader)
                                                       : ReadChdr<Elf32_Chdr>(reader);
  if (!reader.ok()) return {};
  return Decompress(header, section->contents.subspan(reader.offset()), bounds);
}

}  // namespace profiler::symbolize
