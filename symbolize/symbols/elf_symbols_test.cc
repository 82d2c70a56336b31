#include "symbolize/symbols/elf_symbols.h"

#include <elf.h>

#include <algorithm>
#include <map>
#include <set>

#include "symbolize/symbols/demangle.h"
#include "symbolize/testing/test_files.h"

namespace profiler::symbolize {
namespace {

// A fixture's file and its symbols.
struct Program {
  explicit Program(const std::string& name)
      : text(ReadFile(TestFile(name))),
        bytes(Bytes(text)),
        image(*ElfImage::Parse(bytes)),
        table(ReadElfSymbols(image, image)) {}

  std::string NameAtAddress(uint64_t address) const {
    const Symbol* symbol = table.Find(address);
    return symbol == nullptr ? "" : table.ShownName(*symbol);
  }
  // Returns the name of the code that begins with `marker`.
  std::string NameAtText(std::string_view marker, size_t plus = 0) const {
    const auto address = image.AddressOf({text.find(marker) + plus});
    return address ? NameAtAddress(address->value) : "no address";
  }

  std::string text;
  std::vector<std::byte> bytes;
  ElfImage image;
  SymbolTable table;
};

class ProgramTest : public testing::TestWithParam<const char*> {};

TEST_P(ProgramTest, NamesTheFirstAndLastByteOfEverySymbolAsNmDoes) {
  const Program program(GetParam());
  std::map<uint64_t, std::set<std::string>> names;  // aliases share an address
  const std::vector<NmSymbol> symbols = ReadNm(TestFile(std::string(GetParam()) + ".nm"));
  for (const NmSymbol& symbol : symbols) names[symbol.address].insert(Demangle(symbol.name));
  size_t checked = 0;
  for (const NmSymbol& symbol : symbols) {
    if (symbol.size == 0 || symbol.name == "without_size") continue;
    // Symbol of a data byte for probes in newer C libraries; its type does not say that it is data.
    if (symbol.name == "_.stapsdt.base") continue;
    const auto& allowed = names[symbol.address];
    EXPECT_TRUE(allowed.contains(program.NameAtAddress(symbol.address))) << symbol.name;
    const Symbol* found = program.table.Find(symbol.address);
    ASSERT_NE(found, nullptr) << symbol.name;
    EXPECT_EQ(found->start, symbol.address) << symbol.name;
    if (names[symbol.address].size() == 1 && found->end == symbol.address + symbol.size) {
      EXPECT_TRUE(program.table.Find(found->end - 1) != nullptr) << symbol.name;
    }
    ++checked;
  }
  EXPECT_GT(checked, 5u);
}

TEST_P(ProgramTest, NamesTheCodeAtItsPlaceInTheFile) {
  const Program program(GetParam());
  EXPECT_EQ(program.NameAtText("<the bytes of marked_code>"), "marked_code");
  EXPECT_EQ(program.NameAtText("<the bytes of marked_code>", 25), "marked_code");
}

TEST_P(ProgramTest, ASymbolWithoutSizeEndsAtTheNextOne) {
  const Program program(GetParam());
  EXPECT_EQ(program.NameAtText("<the bytes of without_size>", 20), "without_size");
  EXPECT_EQ(program.NameAtText("<the bytes of after_without_size>", 20), "after_without_size");
}

TEST_P(ProgramTest, DemanglesAndChoosesBetweenAliases) {
  const Program program(GetParam());
  std::set<std::string> names;
  for (const Symbol& symbol : program.table.symbols())
    names.insert(program.table.ShownName(symbol));
  EXPECT_TRUE(names.contains("fixture::Shape::sides() const"));
  EXPECT_TRUE(names.contains("fixture::Shape::Shape(int)"));
  EXPECT_TRUE(names.contains("double fixture::Twice<double>(double)"));
  EXPECT_TRUE(names.contains("strong_name"));
  EXPECT_FALSE(names.contains("weak_alias"));
  EXPECT_FALSE(names.contains("_underscored_alias"));
}

INSTANTIATE_TEST_SUITE_P(Links, ProgramTest,
                         testing::Values("pie", "nopie", "static", "shared", "shifted",
                                         "one_segment"));

class DynamicProgramTest : public testing::TestWithParam<const char*> {};

TEST_P(DynamicProgramTest, NamesPltStubsAfterWhatTheyCall) {
  const Program program(GetParam());
  std::set<std::string> stubs;
  for (const Symbol& symbol : program.table.symbols()) {
    if (!symbol.plt) continue;
    stubs.insert(program.table.ShownName(symbol));
    EXPECT_EQ(program.NameAtAddress(symbol.end - 1), program.table.ShownName(symbol));
    const auto offset = program.image.OffsetOf({symbol.start});
    ASSERT_TRUE(offset);
    EXPECT_EQ(program.image.AddressOf(*offset), ElfAddress{symbol.start});
  }
  EXPECT_TRUE(stubs.contains("malloc@plt"));
  EXPECT_TRUE(stubs.contains("strlen@plt"));
  EXPECT_TRUE(stubs.contains("free@plt"));
  const ElfSection* plt = program.image.FindSection(".plt");
  ASSERT_NE(plt, nullptr);
  EXPECT_EQ(program.NameAtAddress(plt->address.value), ".plt");
}

INSTANTIATE_TEST_SUITE_P(Links, DynamicProgramTest,
                         testing::Values("pie", "nopie", "shared", "shifted", "stripped", "split"));

TEST(ElfSymbolsTest, AStrippedLibraryIsNamedByItsDynamicSymbols) {
  const Program program("stripped");
  EXPECT_EQ(program.NameAtText("<the bytes of marked_code>"), "marked_code");
  for (const Symbol& symbol : program.table.symbols()) {
    EXPECT_NE(program.table.RawName(symbol), "CallsThroughThePlt");
  }
}

TEST(ElfSymbolsTest, TheSymbolsOfASplitOffFileNameTheStrippedOne) {
  const Program stripped("split");
  const Program debug("split.debug");
  EXPECT_EQ(stripped.NameAtText("<the bytes of marked_code>"), "");
  const SymbolTable table = ReadElfSymbols(stripped.image, debug.image);
  const auto address = stripped.image.AddressOf({stripped.text.find("<the bytes of marked_code>")});
  ASSERT_TRUE(address);
  const Symbol* symbol = table.Find(address->value);
  ASSERT_NE(symbol, nullptr);
  EXPECT_EQ(table.RawName(*symbol), "marked_code");
}

// Builds a program of the other byte order: .text at 0x1000, .opd at 0x2000, and a function of 16
// bytes at each address in `functions`.
std::string BigEndianElf(uint16_t machine, const std::vector<uint64_t>& functions) {
  const auto put = [](std::string& out, uint64_t number, int size) {
    while (size-- > 0) out += static_cast<char>(number >> (8 * size) & 0xff);
  };
  std::string names("\0", 1), symbols(24, '\0'), descriptors;
  for (size_t i = 0; i < functions.size(); ++i) {
    put(symbols, names.size(), 4);
    symbols += static_cast<char>(STB_GLOBAL << 4 | STT_FUNC);
    symbols += '\0';
    put(symbols, machine == EM_PPC64 ? 2 : 1, 2);  // section
    put(symbols, functions[i], 8);
    put(symbols, 16, 8);
    names += "f" + std::to_string(i) + '\0';
    for (const uint64_t word : {uint64_t{0x1010} + 16 * i, uint64_t{0}, uint64_t{0}}) {
      put(descriptors, word, 8);
    }
  }
  constexpr char kSectionNames[] = "\0.text\0.opd\0.symtab\0.strtab\0.shstrtab";
  const std::string section_names(kSectionNames, sizeof(kSectionNames));
  const std::string text(0x100, '\x4e');
  std::string file, headers(64, '\0');
  uint64_t offset = 64;
  const auto add = [&](uint32_t name, uint32_t type, uint64_t flags, uint64_t address,
                       const std::string& contents, uint32_t link, uint64_t entry) {
    put(headers, name, 4), put(headers, type, 4), put(headers, flags, 8), put(headers, address, 8);
    put(headers, offset, 8), put(headers, contents.size(), 8), put(headers, link, 4);
    put(headers, 0, 4), put(headers, 8, 8), put(headers, entry, 8);
    file += contents;
    offset += contents.size();
  };
  add(1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, text, 0, 0);
  add(7, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x2000, descriptors, 0, 0);
  add(12, SHT_SYMTAB, 0, 0, symbols, 4, 24);
  add(20, SHT_STRTAB, 0, 0, names, 0, 0);
  add(28, SHT_STRTAB, 0, 0, section_names, 0, 0);
  std::string head(
      "\x7f"
      "ELF\x02\x02\x01",
      7);
  head.resize(EI_NIDENT);
  put(head, ET_EXEC, 2), put(head, machine, 2), put(head, 1, 4), put(head, 0x1000, 8);
  put(head, 0, 8), put(head, offset, 8), put(head, 0, 4);
  for (const int number : {64, 56, 0, 64, 6, 5}) put(head, static_cast<uint64_t>(number), 2);
  return head + file + headers;
}

std::string NamesAt(const std::string& elf, const std::vector<uint64_t>& addresses) {
  const std::vector<std::byte> bytes = Bytes(elf);
  const auto image = ElfImage::Parse(bytes);
  if (!image.ok()) return std::string(image.status().message());
  const SymbolTable table = ReadElfSymbols(*image, *image);
  std::string names;
  for (const uint64_t address : addresses) {
    const Symbol* const symbol = table.Find(address);
    names += symbol == nullptr ? "- " : table.ShownName(*symbol) + " ";
  }
  return names;
}

TEST(ElfSymbols, OfTheOtherByteOrderAreRead) {
  EXPECT_EQ(NamesAt(BigEndianElf(EM_S390, {0x1010, 0x1020}), {0x1000, 0x1010, 0x101f, 0x1024}),
            "- f0 f0 f1 ");
}

TEST(ElfSymbols, OfPowerPcAreWhereTheirDescriptorsSay) {
  EXPECT_EQ(NamesAt(BigEndianElf(EM_PPC64, {0x2000, 0x2018}), {0x1010, 0x101f, 0x1024, 0x2000}),
            "f0 f0 f1 - ");
}

}  // namespace
}  // namespace profiler::symbolize
