#include "gtest/gtest.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/sections/own_sections.h"

namespace profiler::perf_data {
namespace {

std::optional<ChainQuality> Read(const std::string& section) {
  Features features;
  features.other[kFeatureChainQuality] = section;
  return ReadChainQuality(features);
}

std::string Written(const ChainQuality& chains) {
  Features features;
  SetChainQuality(chains, &features);
  return features.other[kFeatureChainQuality];
}

TEST(ChainQualityTest, IsLinesOfText) {
  const ChainQuality chains{
      .complete = 51823,
      .late_read = 3,
      .guessed = 40,
      .no_stack = 4,
      .cuts = {{60, "stack too short", "/usr/bin/node"}, {2, "no image", ""}}};
  EXPECT_EQ(Written(chains),
            "complete\t51823\n"
            "waiting\t3\n"
            "guessed\t40\n"
            "no-stack\t4\n"
            "cut\t60\tstack too short\t/usr/bin/node\n"
            "cut\t2\tno image\t\n");
  EXPECT_EQ(Read(Written(chains)), chains);
}

TEST(ChainQualityTest, ImagesMayHaveAnyName) {
  const ChainQuality chains{.cuts = {{1, "no image", "/a\tb\\n\nc"}}};
  EXPECT_EQ(Read(Written(chains)), chains);
}

TEST(ChainQualityTest, PassesOverLinesOfLaterVersions) {
  const auto chains = Read("complete\t7\nmended\t3\tby magic\n");
  ASSERT_TRUE(chains.has_value());
  EXPECT_EQ(chains->complete, 7u);
}

TEST(ChainQualityTest, ChainsThatEarlierVersionsMendedWithoutProofCountAsCut) {
  const auto chains = Read("complete\t7\njoined\t3\nlate-read\t2\nguessed\t0\n");
  ASSERT_TRUE(chains.has_value());
  EXPECT_EQ(chains->whole(), 7u);
  EXPECT_EQ(chains->cuts,
            (std::vector<ChainQuality::Cut>{{3, "outer part taken from an earlier chain", ""},
                                            {2, "outer part read after the sample", ""}}));
}

TEST(ChainQualityTest, RefusesCountsThatAreNone) {
  EXPECT_FALSE(Read("complete\t-7\n").has_value());
  EXPECT_FALSE(Read("cut\t\n").has_value());
  EXPECT_FALSE(ReadChainQuality(Features{}).has_value());
}

}  // namespace
}  // namespace profiler::perf_data
