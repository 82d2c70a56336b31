#include "symbolize/elf/libelf_file.h"

#include <algorithm>
#include <climits>
#include <cstdint>

namespace profiler::symbolize {

LibelfFile::LibelfFile(std::span<const std::byte> bytes)
    : bytes_(bytes), elf_(MayHaveMillionsOfSections(bytes) ? nullptr : Open(bytes)) {}

LibelfFile::Handle LibelfFile::Open(std::span<const std::byte> bytes) {
  auto* const start = const_cast<std::byte*>(bytes.data());
  Handle elf(elf_memory(reinterpret_cast<char*>(start), bytes.size()));
  // libelf also returns handles for archives and text, for which gelf_fsize reads out of bounds.
  if (elf_kind(elf.get()) != ELF_K_ELF) elf.reset();
  return elf;
}

// The header counts at most 65279 sections. A larger number is stored in the first section. It may
// be false: a sparse file has room for any number of sections and takes no space on disk.
uint64_t LibelfFile::RoomForUncounted(const GElf_Ehdr& header, uint64_t size) {
  const bool is_counted = header.e_shnum != 0 || header.e_shoff == 0 || header.e_shoff >= size;
  return is_counted ? 0 : (size - header.e_shoff) / sizeof(Elf32_Shdr);
}

bool LibelfFile::MayHaveMillionsOfSections(std::span<const std::byte> bytes) {
  constexpr uint64_t kMost = uint64_t{1 << 20} * sizeof(Elf64_Shdr) / sizeof(Elf32_Shdr);
  if (bytes.size() <= kMost) return false;
  const Handle header_alone = Open(bytes.first(sizeof(Elf64_Ehdr)));
  GElf_Ehdr header;
  return gelf_getehdr(header_alone.get(), &header) != nullptr &&
         RoomForUncounted(header, bytes.size()) > kMost;
}

size_t LibelfFile::CountHeaders(std::span<const std::byte> bytes) {
  const Handle header_alone = Open(bytes.first(std::min(bytes.size(), sizeof(Elf64_Ehdr))));
  GElf_Ehdr header;
  if (gelf_getehdr(header_alone.get(), &header) == nullptr) return 0;
  return header.e_shnum + header.e_phnum + RoomForUncounted(header, bytes.size());
}

Elf_Data* LibelfFile::Table(std::span<const std::byte> contents, Elf_Type type) const {
  if (elf_ == nullptr || contents.empty()) return nullptr;
  // libelf counts entries in an int.
  const size_t size = std::min<size_t>(contents.size(), INT_MAX);
  // Notes have no fixed size, so their table has all bytes.
  const size_t entry = type == ELF_T_NHDR ? 1 : gelf_fsize(get(), type, 1, EV_CURRENT);
  return elf_getdata_rawchunk(get(), contents.data() - bytes_.data(), size - size % entry, type);
}

}  // namespace profiler::symbolize
