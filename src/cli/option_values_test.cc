#include "src/cli/option_values.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::cli {
namespace {

using ::testing::ElementsAre;

TEST(IdList, KeepsTheOrderAndDropsRepeats) {
  EXPECT_THAT(*ParseIdList("17,4,17"), ElementsAre(17, 4));
  for (const char* text : {"", "0", "-1", "4 5", "9999999999"}) {
    EXPECT_FALSE(ParseIdList(text).ok()) << text;
  }
}

TEST(RingPages, ArePagesOrASizeRoundedUpToAPowerOfTwo) {
  EXPECT_EQ(*ParseRingPages("128", 4096), 128u);
  EXPECT_EQ(*ParseRingPages("100", 4096), 128u);
  EXPECT_EQ(*ParseRingPages("512K", 4096), 128u);
  EXPECT_EQ(*ParseRingPages("4M", 4096), 1024u);
  EXPECT_EQ(*ParseRingPages("5000B", 4096), 2u);
  EXPECT_EQ(*ParseRingPages("1B", 4096), 1u);
  for (const char* text : {"", "0", "K", "-1", "5G", "4m", "99999999999999999999"}) {
    EXPECT_FALSE(ParseRingPages(text, 4096).ok()) << text;
  }
}

TEST(List, DropsEmptyPieces) { EXPECT_THAT(SplitList(",a,,b,"), ElementsAre("a", "b")); }

}  // namespace
}  // namespace profiler::cli
