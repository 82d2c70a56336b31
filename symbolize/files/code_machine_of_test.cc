#include "symbolize/files/code_machine_of.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "symbolize/code_machine.h"

namespace profiler::symbolize {
namespace {

template <class T>
void Put(const T& value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

struct NamedAddress {
  std::string name;
  uint32_t value;
  unsigned char type;
};

// Builds a 32-bit ELF file that has a symbol table and nothing else.
std::vector<std::byte> ElfOf(uint16_t machine, const std::vector<NamedAddress>& symbols) {
  constexpr int kSections = 3;
  std::string strings(1, '\0'), table(sizeof(Elf32_Sym), '\0');
  for (const NamedAddress& symbol : symbols) {
    Elf32_Sym raw{};
    raw.st_name = static_cast<uint32_t>(strings.size());
    raw.st_value = symbol.value;
    raw.st_size = symbol.type == STT_FUNC ? 0x10 : 0;
    raw.st_info = ELF32_ST_INFO(STB_LOCAL, symbol.type);
    raw.st_shndx = 1;
    Put(raw, &table);
    strings += symbol.name + '\0';
  }
  strings.resize((strings.size() + 3) / 4 * 4);
  Elf32_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS32;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = machine;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(Elf32_Ehdr);
  header.e_shentsize = sizeof(Elf32_Shdr);
  header.e_shnum = kSections;
  header.e_shstrndx = 2;
  header.e_shoff = static_cast<uint32_t>(sizeof(header) + table.size() + strings.size());
  Elf32_Shdr null{}, symtab{}, strtab{};
  symtab.sh_type = SHT_SYMTAB;
  symtab.sh_offset = sizeof(header);
  symtab.sh_size = static_cast<uint32_t>(table.size());
  symtab.sh_link = 2;
  symtab.sh_entsize = sizeof(Elf32_Sym);
  strtab.sh_type = SHT_STRTAB;
  strtab.sh_offset = symtab.sh_offset + symtab.sh_size;
  strtab.sh_size = static_cast<uint32_t>(strings.size());
  std::string file;
  Put(header, &file);
  file += table + strings;
  Put(null, &file);
  Put(symtab, &file);
  Put(strtab, &file);
  std::vector<std::byte> bytes(file.size());
  std::memcpy(bytes.data(), file.data(), file.size());
  return bytes;
}

uint16_t MachineAt(const std::vector<std::byte>& file, uint64_t address) {
  const auto elf = ElfImage::Parse(file);
  return elf.ok() ? CodeMachineOf(*elf, {address}) : EM_NONE;
}

TEST(CodeMachineOfTest, MappingSymbolsSayWhereThumbCodeIs) {
  const auto file = ElfOf(EM_ARM, {{"$a", 0x100, STT_NOTYPE},
                                   {"in_arm", 0x100, STT_FUNC},
                                   {"$t.1", 0x200, STT_NOTYPE},
                                   {"in_thumb", 0x201, STT_FUNC},
                                   {"$a", 0x300, STT_NOTYPE}});
  EXPECT_EQ(MachineAt(file, 0x100), EM_ARM);
  EXPECT_EQ(MachineAt(file, 0x200), EM_ARM | kThumbCode);
  EXPECT_EQ(MachineAt(file, 0x20a), EM_ARM | kThumbCode);
  EXPECT_EQ(MachineAt(file, 0x300), EM_ARM);
}

TEST(CodeMachineOfTest, WithoutMappingSymbolsTheFunctionsAddressIsOdd) {
  const auto file = ElfOf(EM_ARM, {{"in_arm", 0x100, STT_FUNC}, {"in_thumb", 0x201, STT_FUNC}});
  EXPECT_EQ(MachineAt(file, 0x104), EM_ARM);
  EXPECT_EQ(MachineAt(file, 0x204), EM_ARM | kThumbCode);
  EXPECT_EQ(MachineAt(file, 0x400), EM_ARM);
}

TEST(CodeMachineOfTest, OtherMachinesAreAsTheirFileSays) {
  EXPECT_EQ(MachineAt(ElfOf(EM_386, {{"$t", 0x100, STT_NOTYPE}}), 0x100), EM_386);
  EXPECT_EQ(MachineAt(ElfOf(EM_PPC, {}), 0x100), EM_PPC);
}

}  // namespace
}  // namespace profiler::symbolize
