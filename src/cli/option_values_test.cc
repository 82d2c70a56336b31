#include "src/cli/option_values.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::cli {
namespace {

using ::testing::ElementsAre;

TEST(IdList, KeepsTheOrderAndDropsRepeats) {
  EXPECT_THAT(*ParseIdList("17,4,17"), ElementsAre(17, 4));
  EXPECT_THAT(*ParseIdList("17 4\n9"), ElementsAre(17, 4, 9));  // the output of pidof and pgrep
  for (const char* text : {"", " ", "0", "-1", "4;5", "9999999999"}) {
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

// Returns the ranges as "10-20 30-50", in percent or nanoseconds.
std::string Ranges(std::string_view text) {
  const auto ranges = ParseTimeRanges(text);
  if (!ranges.ok()) return "none";
  std::string out;
  for (const perf_data::TimeRange& range : *ranges) {
    const bool percent = range.begin_percent.has_value();
    out += percent ? absl::StrCat(*range.begin_percent, "-", *range.end_percent, "% ")
                   : absl::StrCat(range.begin, "-", range.end, " ");
  }
  return out;
}

TEST(TimeRanges, MayBeSeveralAndPiecesOfTheWhole) {
  EXPECT_EQ(Ranges("10%/2"), "10-20% ");
  EXPECT_EQ(Ranges("25%"), "0-25% ");
  EXPECT_EQ(Ranges("10%-30%,50%-60%,10%/10"), "10-30% 50-60% 90-100% ");
  EXPECT_EQ(Ranges("0.000000001,0.000000002 0.000000004,0.000000005"), "1-2 4-5 ");
  for (const char* text : {"10%/11", "10%/0", "0%/1", "10%/x", "10%/", "101%", "", " ", "5",
                           "30%-10%", "10%-20%,1,2"}) {
    EXPECT_EQ(Ranges(text), "none") << text;
  }
}

TEST(TimeQuantum, HasAUnit) {
  EXPECT_EQ(*ParseTimeQuantum("100ms"), 100'000'000u);
  EXPECT_EQ(*ParseTimeQuantum("2s"), 2'000'000'000u);
  EXPECT_EQ(*ParseTimeQuantum("20us"), 20'000u);
  EXPECT_EQ(*ParseTimeQuantum("1ns"), 1u);
  for (const char* text : {"", "1", "ms", "0ms", "1x", "-1s", "99999999999999999999s"}) {
    EXPECT_FALSE(ParseTimeQuantum(text).ok()) << text;
  }
}

TEST(TimeRange, IsInSecondsOrInPercent) {
  EXPECT_EQ(ParseTimeRange("12.5,13")->begin, 12'500'000'000u);
  EXPECT_EQ(ParseTimeRange("12.5,13")->end, 13'000'000'000u);
  EXPECT_EQ(ParseTimeRange("0.000000001,")->begin, 1u);
  EXPECT_EQ(ParseTimeRange("7,")->end, UINT64_MAX);
  EXPECT_EQ(ParseTimeRange(",7")->begin, 0u);
  EXPECT_EQ(ParseTimeRange("10%-22.5%")->begin_percent, 10);
  EXPECT_EQ(ParseTimeRange("10%-22.5%")->end_percent, 22.5);
  for (const char* text : {"", "5", "2,1", "a,b", "1.0000000001,", "-1,2", "1.,2", "20%-10%",
                           "10%-200%", "10-20%", "99999999999999999999,"}) {
    EXPECT_FALSE(ParseTimeRange(text).ok()) << text;
  }
}

TEST(List, DropsEmptyPieces) { EXPECT_THAT(SplitList(",a,,b,"), ElementsAre("a", "b")); }

TEST(OptionValuesTest, TimesHaveAUnit) {
  using std::chrono::milliseconds;
  EXPECT_EQ(*ParseDuration("500ms"), milliseconds(500));
  EXPECT_EQ(*ParseDuration("2s"), milliseconds(2000));
  EXPECT_EQ(*ParseDuration("5m"), milliseconds(300'000));
  EXPECT_EQ(*ParseDuration("1h"), milliseconds(3'600'000));
  EXPECT_EQ(*ParseDuration("1d"), milliseconds(86'400'000));
  for (const char* wrong : {"", "s", "5", "0s", "-1s", "1.5s", "1y", "99999999999d"}) {
    EXPECT_FALSE(ParseDuration(wrong).ok()) << wrong;
  }
}

TEST(OptionValuesTest, SizesAreBytesOrHaveAUnit) {
  EXPECT_EQ(*ParseSize("1000"), 1000u);
  EXPECT_EQ(*ParseSize("8B"), 8u);
  EXPECT_EQ(*ParseSize("2M"), uint64_t{2} << 20);
  for (const char* wrong : {"", "0", "M", "-1", "1T", "99999999999G"}) {
    EXPECT_FALSE(ParseSize(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace profiler::cli
