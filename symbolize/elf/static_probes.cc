#include "symbolize/elf/static_probes.h"

#include <algorithm>
#include <string_view>

#include "src/base/byte_reader.h"
#include "symbolize/elf/libelf_file.h"

namespace profiler::symbolize {
namespace {

constexpr size_t kMostProbes = size_t{1} << 16;
constexpr size_t kLongestName = 128;
constexpr uint32_t kNoteType = 3;
constexpr std::string_view kOwner{"stapsdt", 8};  // with its NUL

bool IsName(std::string_view name) {
  const auto is_permitted = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, is_permitted);
}

std::optional<StaticProbe> ReadProbe(const ElfImage& image, std::span<const std::byte> contents,
                                     const ElfSection* base_section) {
  ByteReader reader(contents);
  const auto address = [&] {
    return image.is_64_bit() ? reader.Read<uint64_t>() : uint64_t{reader.Read<uint32_t>()};
  };
  const uint64_t location = address(), base = address(), semaphore = address();
  StaticProbe probe;
  for (std::string_view* text : {&probe.provider, &probe.name, &probe.arguments}) {
    *text = reader.ReadCString();
  }
  if (!reader.ok() || !IsName(probe.provider) || !IsName(probe.name)) return std::nullopt;
  // Without the section, the file was never prelinked.
  const uint64_t moved = base_section == nullptr ? 0 : base_section->address.value - base;
  probe.location = {location + moved};
  if (semaphore != 0) probe.semaphore = ElfAddress{semaphore + moved};
  return probe;
}

}  // namespace

std::vector<StaticProbe> ReadStaticProbes(const ElfImage& image) {
  std::vector<StaticProbe> probes;
  const ElfSection* const notes = image.FindSection(".note.stapsdt");
  if (notes == nullptr || notes->type != SHT_NOTE) return probes;
  const ElfSection* const base_section = image.FindSection(".stapsdt.base");
  const LibelfFile file(image.bytes());
  Elf_Data* const table = file.Table(notes->contents, ELF_T_NHDR);
  GElf_Nhdr header;
  size_t owner = 0, contents = 0;
  for (size_t at = 0; probes.size() < kMostProbes &&
                      (at = gelf_getnote(table, at, &header, &owner, &contents)) != 0;) {
    const auto bytes = notes->contents;
    if (header.n_type != kNoteType || header.n_namesz != kOwner.size() ||
        TextOf(bytes.subspan(owner, kOwner.size())) != kOwner) {
      continue;
    }
    if (auto probe = ReadProbe(image, bytes.subspan(contents, header.n_descsz), base_section)) {
      probes.push_back(*probe);
    }
  }
  return probes;
}

}  // namespace profiler::symbolize
