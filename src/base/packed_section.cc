#include "src/base/packed_section.h"

#include <zstd.h>

namespace profiler {
namespace {

constexpr uint64_t kIsPacked = 4;

// The most bytes that a packed byte may expand to. Our own sections stay below it.
constexpr uint64_t kMostExpansion = 64;
constexpr uint64_t kMostBytes = uint64_t{256} << 20;

// Compresses to one frame with a checksum, because damaged numbers would still look like numbers.
size_t Compress(std::string_view content, int level, std::string* packed) {
  packed->resize(ZSTD_compressBound(content.size()));
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  const size_t size =
      ZSTD_compress2(context, packed->data(), packed->size(), content.data(), content.size());
  ZSTD_freeCCtx(context);
  return size;
}

}  // namespace

std::string PackSection(uint64_t version, uint64_t flags, std::string_view content, int level) {
  std::string packed;
  const size_t size = Compress(content, level, &packed);
  const bool is_packed = ZSTD_isError(size) == 0 && size < content.size() &&
                         content.size() <= size * kMostExpansion && content.size() <= kMostBytes;
  packed.resize(is_packed ? size : 0);
  NumberWriter section;
  section.Number(version);
  section.Number(flags | (is_packed ? kIsPacked : 0));
  section.Number(content.size());
  return section.Take().append(is_packed ? packed : content);
}

std::optional<UnpackedSection> UnpackSection(std::string_view section, uint64_t version) {
  NumberReader head(BytesOfText(section));
  const bool known = head.Number() == version;
  UnpackedSection unpacked;
  unpacked.flags = head.Number();
  const uint64_t size = head.Number();
  if (!head.ok() || !known) return std::nullopt;
  unpacked.content = BytesOfText(section).last(head.remaining());

  if ((unpacked.flags & kIsPacked) != 0) {
    const std::span<const std::byte> packed = unpacked.content;
    if (size > kMostBytes || size > packed.size() * kMostExpansion) return std::nullopt;
    unpacked.inflated = std::make_unique_for_overwrite<std::byte[]>(size);
    // A section in a stream may be followed by zeroes.
    const size_t frame = ZSTD_findFrameCompressedSize(packed.data(), packed.size());
    if (ZSTD_isError(frame) != 0) return std::nullopt;
    const size_t got = ZSTD_decompress(unpacked.inflated.get(), size, packed.data(), frame);
    if (ZSTD_isError(got) != 0 || got != size) return std::nullopt;
    unpacked.content = {unpacked.inflated.get(), size};
  }
  if (size > unpacked.content.size()) return std::nullopt;
  unpacked.content = unpacked.content.first(size);
  return unpacked;
}

}  // namespace profiler
