#include "symbolize/files/code_machine_of.h"

#include <elf.h>

#include <span>
#include <string_view>

#include "src/base/byte_reader.h"
#include "symbolize/code_machine.h"

namespace profiler::symbolize {
namespace {

// True if `name` is the mark, such as "$t", or the mark with a suffix, such as "$t.12".
bool IsMark(std::string_view name, std::string_view mark) {
  return name.starts_with(mark) && (name.size() == mark.size() || name[mark.size()] == '.');
}

// A search in symbol tables for the instruction set at an address of 32-bit ARM code.
class ThumbSearch {
 public:
  explicit ThumbSearch(uint32_t address) : address_(address) {}

  void Look(const ElfImage& elf, const ElfSection& table) {
    const ElfSection* const strings = elf.section(table.link);
    if (strings == nullptr) return;
    ByteReader reader(table.contents);
    while (reader.remaining() >= sizeof(Elf32_Sym)) {
      const auto symbol = reader.Read<Elf32_Sym>();
      const std::string_view name = StringAt(strings->contents, symbol.st_name);
      const bool thumb = IsMark(name, "$t"), arm = IsMark(name, "$a");
      if ((thumb || arm) && symbol.st_value <= address_ && symbol.st_value >= mark_at_) {
        mark_at_ = symbol.st_value;
        marked_ = true;
        mark_is_thumb_ = thumb;
      }
      const uint32_t start = symbol.st_value & ~1u;
      if (ELF32_ST_TYPE(symbol.st_info) != STT_FUNC || start > address_) continue;
      if (start == address_ || address_ - start < symbol.st_size) {
        function_is_thumb_ = (symbol.st_value & 1) != 0;
      }
    }
  }

  bool IsThumb() const { return marked_ ? mark_is_thumb_ : function_is_thumb_; }

 private:
  const uint32_t address_;
  uint32_t mark_at_ = 0;
  bool marked_ = false;  // true once a mapping symbol in front of the address was seen
  bool mark_is_thumb_ = false;
  bool function_is_thumb_ = false;
};

bool IsThumb(const ElfImage& elf, ElfAddress address) {
  ThumbSearch search(static_cast<uint32_t>(address.value));
  for (const uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    if (const ElfSection* const table = elf.FindSectionOfType(type)) search.Look(elf, *table);
  }
  return search.IsThumb();
}

}  // namespace

uint16_t CodeMachineOf(const ElfImage& elf, ElfAddress address) {
  const bool big = elf.bytes()[EI_DATA] == std::byte{ELFDATA2MSB};
  uint16_t machine = elf.machine();
  switch (machine) {
    case EM_ARM:
      if (!big && IsThumb(elf, address)) machine |= kThumbCode;
      break;
    case EM_MIPS:
      if (elf.is_64_bit()) machine |= k64BitCode;
      [[fallthrough]];
    case EM_PPC:
    case EM_PPC64:
      if (big) machine |= kBigEndianCode;
      break;
    default:
      break;
  }
  return machine;
}

}  // namespace profiler::symbolize
