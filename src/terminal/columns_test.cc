#include "src/terminal/columns.h"

#include <string_view>

#include "gtest/gtest.h"

namespace profiler::terminal {
namespace {

TEST(Columns, AreCountedAsATerminalDoes) {
  EXPECT_EQ(ColumnsOf(""), 0u);
  EXPECT_EQ(ColumnsOf("main"), 4u);
  EXPECT_EQ(ColumnsOf("größe…"), 6u);
  EXPECT_EQ(ColumnsOf("漢字"), 4u);
  EXPECT_EQ(ColumnsOf("e\u0301"), 1u);
  EXPECT_EQ(ColumnsOf("\tx\ty"), 17u);
  EXPECT_EQ(ColumnsOf("\xff\xfe"), 2u);
}

TEST(Columns, PrefixNeverEndsWithinACharacter) {
  EXPECT_EQ(PrefixIn("main", 0, 2), 2u);
  EXPECT_EQ(PrefixIn("漢字", 0, 3), std::string_view("漢").size());
  EXPECT_EQ(PrefixIn("e\u0301x", 0, 1), std::string_view("e\u0301").size());
  EXPECT_EQ(PrefixIn("\tx", 4, 4), 1u);
}

}  // namespace
}  // namespace profiler::terminal
