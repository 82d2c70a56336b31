#include "symbolize/symbols/symbol_table.h"

#include <string>

#include "gtest/gtest.h"

namespace profiler::symbolize {
namespace {

// A builder of a table of symbols with names.
class Table {
 public:
  Table& Add(uint64_t start, uint64_t size, std::string_view name,
             Binding binding = Binding::kGlobal, bool typed = true) {
    Symbol symbol;
    symbol.start = start;
    symbol.end = start + size;
    symbol.area = NameArea::kOwned;
    symbol.name = builder_.AddOwnName(name);
    symbol.binding = binding;
    symbol.typed = typed;
    builder_.Add(symbol);
    return *this;
  }
  Table& FixUp() {
    builder_.FixUp();
    return *this;
  }
  SymbolTable Build() { return builder_.Build(); }

  // Returns the name at each address, or "-".
  static std::string Names(const SymbolTable& table, std::initializer_list<uint64_t> addresses) {
    std::string out;
    for (uint64_t address : addresses) {
      const Symbol* symbol = table.Find(address);
      if (!out.empty()) out += " ";
      out += symbol == nullptr ? "-" : table.ShownName(*symbol);
    }
    return out;
  }
  std::string Names(std::initializer_list<uint64_t> addresses) {
    return Names(FixUp().Build(), addresses);
  }

 private:
  SymbolTableBuilder builder_;
};

TEST(SymbolTableTest, ASymbolCoversItsSizeAndNoMore) {
  EXPECT_EQ(Table().Add(20, 10, "b").Add(5, 10, "a").Names({4, 5, 14, 15, 19, 20, 29, 30}),
            "- a a - - b b -");
}

TEST(SymbolTableTest, ASymbolWithoutSizeEndsAtTheNextAndTheLastOneAfterAPage) {
  EXPECT_EQ(Table().Add(5, 0, "a").Add(20, 0, "b").Names({5, 19, 20, 4096, 8191, 8192}),
            "a a b b b -");
}

TEST(SymbolTableTest, TheInnermostSymbolNamesAnAddressAndTheOuterOneTheRest) {
  EXPECT_EQ(Table()
                .Add(0, 100, "outer")
                .Add(10, 30, "middle")
                .Add(20, 5, "inner")
                .Add(50, 5, "late")
                .Names({0, 10, 20, 25, 40, 50, 55, 99, 100}),
            "outer middle inner middle outer late outer outer -");
}

TEST(SymbolTableTest, AStrongAliasGoesBeforeAWeakOne) {
  EXPECT_EQ(Table().Add(0, 9, "longer_name", Binding::kWeak).Add(0, 9, "f").Names({0}), "f");
}

TEST(SymbolTableTest, AGlobalAliasGoesBeforeALocalOne) {
  EXPECT_EQ(Table().Add(0, 9, "longer_name", Binding::kLocal).Add(0, 9, "f").Names({0}), "f");
}

TEST(SymbolTableTest, AFunctionGoesBeforeALabel) {
  EXPECT_EQ(Table()
                .Add(0, 9, "longer_name", Binding::kGlobal, false)
                .Add(0, 9, "f", Binding::kWeak)
                .Names({0}),
            "f");
}

TEST(SymbolTableTest, ALabelInsideAFunctionIsNoFunction) {
  EXPECT_EQ(Table()
                .Add(10, 20, "function")
                .Add(15, 0, "loop", Binding::kLocal, false)
                .Add(20, 0, "typed", Binding::kLocal, true)
                .Add(25, 0, "tail", Binding::kLocal, false)
                .Add(40, 0, "label", Binding::kLocal, false)
                .Names({12, 15, 19, 20, 24, 25, 29, 30, 39, 40}),
            "function function function typed typed function function - - label");
}

TEST(SymbolTableTest, AnAliasWithASizeGoesBeforeOneWithout) {
  EXPECT_EQ(
      Table().Add(0, 9, "f", Binding::kWeak).Add(0, 0, "longer_name").Add(0, 9, "g").Names({0}),
      "g");
}

TEST(SymbolTableTest, FewerUnderscoresThenTheLongerNameThenTheFirstDecide) {
  EXPECT_EQ(Table().Add(0, 9, "__longer_name").Add(0, 9, "name").Names({0}), "name");
  EXPECT_EQ(Table().Add(0, 9, "name").Add(0, 9, "longer_name").Names({0}), "longer_name");
  EXPECT_EQ(Table().Add(0, 9, "abc").Add(0, 9, "xyz").Names({0}), "abc");
}

TEST(SymbolTableTest, TheNameThatIsShownDecidesAndNotTheMangledOne) {
  // foo(int) has no underscores.
  EXPECT_EQ(Table().Add(0, 9, "f").Add(0, 9, "_Z3fooi").Names({0}), "foo(int)");
}

TEST(SymbolTableTest, OfAliasesWithoutSizeTheLastAddedReachesTheNextSymbol) {
  EXPECT_EQ(Table().Add(0, 0, "long_first").Add(0, 0, "b").Add(9, 1, "c").Names({0, 8}), "b b");
}

TEST(SymbolTableTest, ASecondSourceJoinsTheFirst) {
  Table table;
  table.Add(10, 0, "a").Add(40, 5, "d").FixUp();
  table.Add(20, 5, "b").Add(10, 30, "weak_twin", Binding::kWeak).FixUp();
  EXPECT_EQ(Table::Names(table.Build(), {10, 20, 24, 25, 39, 40}), "a b b a a d");
}

TEST(SymbolTableTest, AnEmptyTableNamesNothing) {
  EXPECT_EQ(Table().Names({0, 1, ~uint64_t{0}}), "- - -");
}

}  // namespace
}  // namespace profiler::symbolize
