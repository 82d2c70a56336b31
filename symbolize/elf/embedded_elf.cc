#include "symbolize/elf/embedded_elf.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/base/byte_reader.h"

namespace profiler::symbolize {
namespace {

// Try at most this many candidate headers; a file may contain many false ones.
constexpr int kMostTried = 64;

bool IsZip(std::span<const std::byte> bytes) { return TextOf(bytes).starts_with("PK\3\4"); }

bool IsElfAt(std::span<const std::byte> bytes, uint64_t start) {
  return bytes.size() - start >= SELFMAG && std::memcmp(&bytes[start], ELFMAG, SELFMAG) == 0;
}

}  // namespace

bool HasCodeAt(const ElfImage& elf, FileOffset offset) {
  return std::ranges::any_of(elf.segments(), [offset](const ElfSegment& segment) {
    const uint64_t first = segment.offset.value & ~(kPage - 1);
    return segment.executable && offset.value >= first &&
           offset.value - first < (segment.offset.value - first) + segment.file_size;
  });
}

std::optional<EmbeddedElf> FindEmbeddedElf(std::span<const std::byte> bytes, FileOffset offset) {
  if (offset.value >= bytes.size() || !IsZip(bytes)) return std::nullopt;
  const uint64_t end = offset.value & ~(kPage - 1);
  const uint64_t least = end > kLargestEmbedded ? end - kLargestEmbedded : kPage;
  int tried = 0;
  for (uint64_t start = end; start >= least && tried < kMostTried; start -= kPage) {
    if (!IsElfAt(bytes, start)) continue;
    ++tried;
    absl::StatusOr<ElfImage> elf = ElfImage::Parse(bytes.subspan(start));
    if (!elf.ok() || !HasCodeAt(*elf, {offset.value - start})) continue;
    return EmbeddedElf{start, *std::move(elf)};
  }
  return std::nullopt;
}

}  // namespace profiler::symbolize
