#include "symbolize/dwarf/sections.h"

#include <elf.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/byte_reader.h"

namespace profiler::symbolize::dwarf {
namespace {

constexpr std::array<std::string_view, kSectionCount> kNames = {
    "info",   "abbrev",   "str",  "str_offsets", "line",    "line_str",
    "ranges", "rnglists", "addr", "aranges",     "cu_index"};

constexpr uint32_t kZstd = 2;  // ELFCOMPRESS_ZSTD, which older <elf.h> do not have

using Buffer = std::vector<std::byte>;

std::optional<Buffer> Inflate(Bytes packed, uint64_t size) {
  Buffer plain(size);
  z_stream stream = {};
  if (inflateInit(&stream) != Z_OK) return std::nullopt;
  constexpr uint64_t kMost = 1u << 30;  // zlib counts in 32 bits
  int result = Z_OK;
  // zlib does not write through next_in; its type is older than const.
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  uint64_t left_in = packed.size();
  uint64_t left_out = size;
  while (result == Z_OK && left_out != 0) {
    const auto in = static_cast<uInt>(std::min(left_in, kMost));
    const auto out = static_cast<uInt>(std::min(left_out, kMost));
    stream.avail_in = in;
    stream.avail_out = out;
    result = inflate(&stream, Z_NO_FLUSH);
    left_in -= in - stream.avail_in;
    left_out -= out - stream.avail_out;
    if (in == stream.avail_in && out == stream.avail_out) break;
  }
  inflateEnd(&stream);
  if (left_out != 0) return std::nullopt;
  return plain;
}

std::optional<Buffer> Unzstd(Bytes packed, uint64_t size) {
  Buffer plain(size);
  const size_t got = ZSTD_decompress(plain.data(), plain.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) != 0 || got != size) return std::nullopt;
  return plain;
}

std::optional<Buffer> Decompress(Bytes packed, uint32_t method, uint64_t size) {
  if (size > packed.size() * Sections::kMaxExpansion) return std::nullopt;
  if (method == ELFCOMPRESS_ZLIB) return Inflate(packed, size);
  if (method == kZstd) return Unzstd(packed, size);
  return std::nullopt;
}

// Elf64_Chdr or Elf32_Chdr, then the packed bytes.
std::optional<Buffer> DecompressSection(const ElfImage& image, Bytes contents) {
  ByteReader reader(contents);
  uint32_t method = 0;
  uint64_t size = 0;
  if (image.is_64_bit()) {
    const auto header = reader.Read<Elf64_Chdr>();
    method = header.ch_type;
    size = header.ch_size;
  } else {
    const auto header = reader.Read<Elf32_Chdr>();
    method = header.ch_type;
    size = header.ch_size;
  }
  if (!reader.ok()) return std::nullopt;
  return Decompress(contents.subspan(reader.offset()), method, size);
}

// The older way: "ZLIB", the size as a big-endian number of 8 bytes, then the packed bytes.
std::optional<Buffer> DecompressZdebug(Bytes contents) {
  ByteReader reader(contents);
  const std::string_view magic = TextOf(reader.ReadBytes(4));
  const uint64_t size = __builtin_bswap64(reader.Read<uint64_t>());
  if (!reader.ok() || magic != "ZLIB") return std::nullopt;
  return Decompress(contents.subspan(reader.offset()), ELFCOMPRESS_ZLIB, size);
}

}  // namespace

Sections Sections::Load(const ElfImage& image, bool split) {
  Sections loaded;
  for (size_t i = 0; i < kSectionCount; ++i) {
    std::string name(kNames[i]);
    // The index of a package has no suffix.
    if (split && SectionId(i) != SectionId::kCuIndex) name += ".dwo";
    std::optional<Buffer> plain;
    const ElfSection* section = image.FindSection(".debug_" + name);
    if (section == nullptr) {
      section = image.FindSection(".zdebug_" + name);
      if (section == nullptr) continue;
      plain = DecompressZdebug(section->contents);
    } else if ((section->flags & SHF_COMPRESSED) != 0) {
      plain = DecompressSection(image, section->contents);
    } else {
      loaded.sections_[i] = section->contents;
      continue;
    }
    if (plain) loaded.sections_[i] = loaded.decompressed_.emplace_back(*std::move(plain));
  }
  return loaded;
}

bool HasDebugInfo(const ElfImage& image) {
  const auto has = [&image](std::string_view name) {
    const ElfSection* section = image.FindSection(name);
    return section != nullptr && !section->contents.empty();
  };
  return has(".debug_info") || has(".zdebug_info");
}

}  // namespace profiler::symbolize::dwarf
