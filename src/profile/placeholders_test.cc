#include "src/profile/placeholders.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

namespace profiler::profile {
namespace {

// Returns runs of equal weights: "20*1 16*1.5" for 20 samples of weight 1 and 16 of weight 1.5.
std::string Weights(size_t samples, const std::vector<Gap>& gaps) {
  std::string text;
  size_t alike = 0;
  const std::vector<Placeholder> all = PlaceholdersFor(samples, gaps);
  for (size_t i = 0; i < all.size(); ++i) {
    ++alike;
    if (i + 1 < all.size() && all[i + 1].weight == all[i].weight) continue;
    text += absl::StrFormat("%s%d*%g", text.empty() ? "" : " ", alike, all[i].weight);
    alike = 0;
  }
  return text;
}

double Sum(const std::vector<Placeholder>& all) {
  double sum = 0;
  for (const Placeholder& of : all) sum += of.weight;
  return sum;
}

TEST(Placeholders, WithoutGapsEachSampleStandsForItself) { EXPECT_EQ(Weights(100, {}), "100*1"); }

TEST(Placeholders, OfAGapAreItsNeighboursOnBothSides) {
  EXPECT_EQ(Weights(100, {{50, 16}}), "34*1 32*1.5 34*1");
}

TEST(Placeholders, OfALongGapAreAsManyAsItLacks) {
  EXPECT_EQ(Weights(200, {{100, 100}}), "50*1 100*2 50*1");
}

TEST(Placeholders, AtAnEndOfTheStreamAreOnOneSide) {
  EXPECT_EQ(Weights(40, {{0, 16}}), "16*2 24*1");
  EXPECT_EQ(Weights(40, {{40, 16}}), "24*1 16*2");
}

TEST(Placeholders, ReachNoFartherBecauseOfOtherGaps) {
  // The samples between the gaps are next to both gaps.
  EXPECT_EQ(Weights(300, {{100, 80}, {120, 80}}), "60*1 40*2 20*5 40*2 140*1");
}

TEST(Placeholders, SayHowLongTheGapsAre) {
  const std::vector<Placeholder> all = PlaceholdersFor(100, std::vector<Gap>{{50, 20}});
  EXPECT_EQ(all[10].gap, 0);
  EXPECT_EQ(all[49].gap, 20);
}

TEST(Placeholders, OfFewSamplesAreAllOfThem) {
  EXPECT_EQ(Weights(1, {{0, 9}}), "1*10");
  EXPECT_EQ(Weights(2, {{1, 9}}), "2*5.5");
  EXPECT_EQ(Weights(0, {{0, 9}}), "");
}

TEST(Placeholders, StandForAllThatIsMissing) {
  const std::vector<Gap> gaps = {{3, 5}, {3, 70}, {90, 1}, {91, 1000}, {500, 33}, {1000, 0.5}};
  EXPECT_NEAR(Sum(PlaceholdersFor(1000, gaps)), 1000 + 5 + 70 + 1 + 1000 + 33 + 0.5, 0.01);
}

TEST(Placeholders, OfImpossibleGapsAreFinite) {
  const std::vector<Gap> gaps = {
      {10, 0x1p64}, {20, std::numeric_limits<double>::infinity()}, {30, -5}, {1000, 0x1p64}};
  for (const Placeholder& of : PlaceholdersFor(100, gaps)) {
    EXPECT_TRUE(std::isfinite(of.weight) && std::isfinite(of.gap));
    EXPECT_GE(of.weight, 1);
    EXPECT_GE(of.gap, 0);
  }
}

}  // namespace
}  // namespace profiler::profile
