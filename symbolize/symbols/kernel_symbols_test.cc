#include "symbolize/symbols/kernel_symbols.h"

#include "symbolize/testing/test_files.h"

namespace profiler::symbolize {
namespace {

std::string NameAt(const KernelSymbols& symbols, uint64_t address) {
  const Symbol* symbol = symbols.table().Find(address);
  return symbol == nullptr ? "-" : std::string(symbols.table().RawName(*symbol));
}

KernelSymbols Parse(std::string_view text) { return KernelSymbols::Parse(NulTerminated(text)); }

TEST(KernelSymbolsTest, ASymbolReachesToTheNextOne) {
  const KernelSymbols symbols = Parse(
      "ffffffff81000000 T _stext\n"
      "ffffffff81000100 t do_one_initcall\n"
      "ffffffff81000200 W arch_hook\n");
  EXPECT_EQ(NameAt(symbols, 0xffffffff80ffffff), "-");
  EXPECT_EQ(NameAt(symbols, 0xffffffff81000000), "_stext");
  EXPECT_EQ(NameAt(symbols, 0xffffffff810001ff), "do_one_initcall");
  EXPECT_EQ(NameAt(symbols, 0xffffffff81000201), "arch_hook");
}

TEST(KernelSymbolsTest, SortsModulesAndEndsTheirLastSymbolAtAPage) {
  const KernelSymbols symbols = Parse(
      "ffffffff81000000 T kernel_last\n"
      "ffffffffc0002000 t two_b\t[two]\n"
      "ffffffffc0002010 t two_a\t[two]\n"
      "ffffffffc0000800 t one\t[one]\n");
  EXPECT_EQ(NameAt(symbols, 0xffffffff81000fff), "kernel_last");
  EXPECT_EQ(NameAt(symbols, 0xffffffff81001000), "-");
  EXPECT_EQ(NameAt(symbols, 0xffffffffc0001fff), "one");
  EXPECT_EQ(NameAt(symbols, 0xffffffffc000200f), "two_b");
  EXPECT_EQ(NameAt(symbols, 0xffffffffc0002fff), "two_a");
}

TEST(KernelSymbolsTest, OtherTypesAndUnreadableLinesAreSkipped) {
  const KernelSymbols symbols = Parse(
      "0000000000000000 A fixed_percpu_data\n"
      "\n"
      "not a line\n"
      "ffffffff81000000 T good\n"
      "ffffffff81000010 r constant\n"
      "ffffffff81000020 T\n"
      "ffffffff81000030 T .Lcompiler_label\n"
      "ffffffff81000040 T without_newline");
  EXPECT_EQ(NameAt(symbols, 0), "-");
  EXPECT_EQ(NameAt(symbols, 0xffffffff8100003f), "good");
  EXPECT_EQ(NameAt(symbols, 0xffffffff81000040), "without_newline");
  EXPECT_FALSE(symbols.restricted());
}

TEST(KernelSymbolsTest, NothingButZeroesMeansThatAddressesAreHidden) {
  const KernelSymbols symbols = Parse(
      "0000000000000000 T _stext\n"
      "0000000000000000 T do_one_initcall\n");
  EXPECT_TRUE(symbols.restricted());
  EXPECT_EQ(NameAt(symbols, 0), "-");
  EXPECT_FALSE(Parse("").restricted());
}

TEST(KernelSymbolsTest, AMissingFileIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(KernelSymbols::Read(TestDirectory() + "/kallsyms").status()));
}

}  // namespace
}  // namespace profiler::symbolize
