#include "symbolize/hotspot/exports.h"

#include <elf.h>

#include <cstring>

namespace profiler::symbolize::hotspot {

absl::flat_hash_map<std::string, ElfAddress> ReadExports(const ElfImage& image) {
  constexpr std::string_view kPrefix = "gHotSpotVM";
  constexpr size_t kMost = 256;
  absl::flat_hash_map<std::string, ElfAddress> exports;
  const ElfSection* const symbols = image.FindSectionOfType(SHT_DYNSYM);
  if (symbols == nullptr || !image.is_64_bit()) return exports;
  const ElfSection* const names = image.section(symbols->link);
  if (names == nullptr) return exports;
  const std::span<const std::byte> table = symbols->contents;
  for (size_t at = 0; at + sizeof(Elf64_Sym) <= table.size(); at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, table.data() + at, sizeof(symbol));
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF) continue;
    const std::string_view name = StringAt(names->contents, symbol.st_name);
    if (!name.starts_with(kPrefix)) continue;
    exports.try_emplace(std::string(name), ElfAddress{symbol.st_value});
    if (exports.size() >= kMost) break;
  }
  return exports;
}

}  // namespace profiler::symbolize::hotspot
