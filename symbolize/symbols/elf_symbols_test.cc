#include "symbolize/symbols/elf_symbols.h"

#include <algorithm>
#include <map>
#include <set>

#include "symbolize/symbols/demangle.h"
#include "symbolize/test_files.h"

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
  // Of the code that begins with `marker`.
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
    // A byte of data that the probes of newer C libraries have; its symbol does not say so.
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

}  // namespace
}  // namespace profiler::symbolize
