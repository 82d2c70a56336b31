#include "symbolize/unwind/section_contents.h"

#include <elf.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <string>

#include "src/base/byte_reader.h"

namespace profiler::symbolize {
namespace {

constexpr uint32_t kCompressZstd = 2;  // ELFCOMPRESS_ZSTD, newer than this glibc
constexpr uint64_t kMostBytes = uint64_t{1} << 30;
// What each byte of input can become at most; zstd's is what makes sense for tables.
constexpr uint64_t kMostInflated = 1032;

using Bytes = std::span<const std::byte>;

bool Inflate(Bytes input, std::vector<std::byte>& output) {
  uLongf size = output.size();
  return uncompress(reinterpret_cast<Bytef*>(output.data()), &size,
                    reinterpret_cast<const Bytef*>(input.data()), input.size()) == Z_OK &&
         size == output.size();
}

bool Unzstd(Bytes input, std::vector<std::byte>& output) {
  const size_t size = ZSTD_decompress(output.data(), output.size(), input.data(), input.size());
  return ZSTD_isError(size) == 0 && size == output.size();
}

SectionContents Decompress(Bytes input, uint64_t size, bool zstd) {
  SectionContents contents;
  if (size == 0 || size > kMostBytes || size / kMostInflated > input.size()) return contents;
  std::vector<std::byte> output(size);
  if (!(zstd ? Unzstd(input, output) : Inflate(input, output))) return contents;
  contents.owned = std::move(output);
  contents.bytes = contents.owned;
  return contents;
}

SectionContents DecompressSection(Bytes compressed) {
  ByteReader reader(compressed);
  const auto header = reader.Read<Elf64_Chdr>();
  const bool zstd = header.ch_type == kCompressZstd;
  if (!reader.ok() || (!zstd && header.ch_type != ELFCOMPRESS_ZLIB)) return {};
  return Decompress(reader.ReadBytes(reader.remaining()), header.ch_size, zstd);
}

SectionContents DecompressGnu(Bytes compressed) {
  ByteReader reader(compressed);
  if (TextOf(reader.ReadBytes(4)) != "ZLIB") return {};
  uint64_t size = 0;
  for (int i = 0; i < 8; ++i) size = size << 8 | reader.Read<uint8_t>();
  if (!reader.ok()) return {};
  return Decompress(reader.ReadBytes(reader.remaining()), size, false);
}

}  // namespace

SectionContents ReadSectionContents(const ElfImage& image, std::string_view name) {
  if (const ElfSection* section = image.FindSection(name)) {
    if ((section->flags & SHF_COMPRESSED) != 0) return DecompressSection(section->contents);
    return {section->contents, {}};
  }
  if (name.starts_with(".debug_")) {
    const ElfSection* section = image.FindSection(".z" + std::string(name.substr(1)));
    if (section != nullptr) return DecompressGnu(section->contents);
  }
  return {};
}

}  // namespace profiler::symbolize
