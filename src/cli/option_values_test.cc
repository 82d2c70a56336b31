#include "src/cli/option_values.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::cli {
namespace {

using ::testing::ElementsAre;

TEST(CpuList, TakesNumbersAndRangesInAnyOrder) {
  EXPECT_THAT(*ParseCpuList("0,2-3"), ElementsAre(0, 2, 3));
  EXPECT_THAT(*ParseCpuList("5,1-2,2"), ElementsAre(1, 2, 5));
}

TEST(CpuList, QuotesWhatItCannotRead) {
  for (const char* text : {"", "a", "3-1", "1-", "-2", "1-2-3", "0,,x", "99999999999"}) {
    EXPECT_FALSE(ParseCpuList(text).ok()) << text;
  }
  EXPECT_EQ(ParseCpuList("0,x").status().message(),
            "'x' is no CPU or range of CPUs, such as 0,2-3");
}

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

TEST(TimeSpan, IsInSecondsAndMayBeOpen) {
  const TimeRange range = *ParseTimeRange("1.5,2");
  EXPECT_EQ(range.first, 1'500'000'000u);
  EXPECT_EQ(range.last, 2'000'000'000u);
  EXPECT_TRUE(range.Contains(1'500'000'000));
  EXPECT_FALSE(range.Contains(2'000'000'001));
  EXPECT_EQ(ParseTimeRange("0.000000001,")->first, 1u);
  EXPECT_EQ(ParseTimeRange(",7")->last, 7'000'000'000u);
  for (const char* text : {"", "1", "2,1", "a,b", "1.0000000001,", "1,2,3", "99999999999999,"}) {
    EXPECT_FALSE(ParseTimeRange(text).ok()) << text;
  }
}

TEST(List, DropsEmptyPieces) { EXPECT_THAT(SplitList(",a,,b,"), ElementsAre("a", "b")); }

}  // namespace
}  // namespace profiler::cli
