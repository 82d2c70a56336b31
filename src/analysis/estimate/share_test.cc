#include "src/analysis/estimate/share.h"

#include "gtest/gtest.h"

namespace profiler::estimate {
namespace {

// Returns 10 000 samples with half in the function, in visits of `length` samples.
ShareSamples InVisitsOf(uint64_t length) {
  const uint64_t changes = 10'000 / length;
  return {.samples = 10'000,
          .count = 5'000,
          .changes = changes,
          .changes_at_two = length == 1 ? 0 : 2 * changes};
}

// 10 000 independent samples with half in the function.
constexpr ShareSamples kDice = {
    .samples = 10'000, .count = 5'000, .changes = 5'000, .changes_at_two = 5'000};

TEST(ShareInterval, IsThatOfDiceWhereNeighboursHaveNothingToDoWithEachOther) {
  const Interval interval = ShareInterval(kDice, 0.5);
  EXPECT_NEAR(interval.low, 0.49, 0.001);
  EXPECT_NEAR(interval.high, 0.51, 0.001);
}

TEST(ShareInterval, IsATenthOfThatWhereVisitsAreLong) {
  EXPECT_LT(ShareInterval(InVisitsOf(50), 0.5).half_width(),
            ShareInterval(kDice, 0.5).half_width() / 10);
}

TEST(ShareInterval, OfFewSamplesIsWideAndEndsAtNothingAndAtAll) {
  const Interval none = ShareInterval({.samples = 100}, 0);
  EXPECT_EQ(none.low, 0);
  EXPECT_GT(none.high, 0.03);
  const Interval all = ShareInterval({.samples = 100, .count = 100}, 1);
  EXPECT_LT(all.low, 0.97);
  EXPECT_EQ(all.high, 1);
  const Interval one =
      ShareInterval({.samples = 100, .count = 1, .changes = 2, .changes_at_two = 2}, 0.01);
  EXPECT_GT(one.low, 0);
  EXPECT_GT(one.high, 0.05);
}

TEST(ShareInterval, WithoutSamplesIsEverything) {
  EXPECT_EQ(ShareInterval({}, 0).low, 0);
  EXPECT_EQ(ShareInterval({}, 0).high, 1);
}

TEST(ShareInterval, IsWiderWhereABeatMayHaveBeenCut) {
  ShareSamples beating = InVisitsOf(500);
  const double without = ShareInterval(beating, 0.5).half_width();
  beating.beat_variance = 20'000;
  EXPECT_GT(ShareInterval(beating, 0.5).half_width(), 10 * without);
}

TEST(ShareInterval, IsWiderWhereFewSamplesWeighMost) {
  EXPECT_NEAR(ShareInterval(kDice, 0.5, 4).half_width(),
              2 * ShareInterval(kDice, 0.5, 1).half_width(), 0.001);
}

TEST(PartlyEstimatedInterval, IsAPointWhereNothingIsEstimated) {
  const Interval interval = PartlyEstimatedInterval(0.25, 0, 0);
  EXPECT_EQ(interval.low, 0.25);
  EXPECT_EQ(interval.high, 0.25);
}

TEST(PartlyEstimatedInterval, IsThatOfTheEstimatedPart) {
  // Everything is estimated: the interval is that of independent samples.
  EXPECT_NEAR(PartlyEstimatedInterval(0.5, 1, 400).half_width(), 0.051, 0.001);
  // A tenth is estimated, half of which may be in the share.
  EXPECT_NEAR(PartlyEstimatedInterval(0.5, 0.1, 400).half_width(), 0.0051, 0.0001);
  // At most a tenth of the estimated part belongs to a share of 1 %.
  EXPECT_NEAR(PartlyEstimatedInterval(0.01, 0.1, 400).half_width(), 0.0035, 0.0001);
}

TEST(PartlyEstimatedInterval, OfOneSampleIsAllThatIsEstimated) {
  const Interval interval = PartlyEstimatedInterval(0.5, 0.2, 1);
  EXPECT_NEAR(interval.half_width(), 0.09, 0.001);
}

TEST(SamplesToSeparate, IsHowManyItTakesUntilTheIntervalsPart) {
  ShareSamples more = kDice;
  more.count = 5'100;
  // The shares are 1 point apart and their intervals 2 wide: half the distance needs four times as
  // many samples.
  EXPECT_NEAR(static_cast<double>(SamplesToSeparate(kDice, more)), 42'000, 2'000);
  EXPECT_EQ(SamplesToSeparate(kDice, kDice), 0u);
  EXPECT_EQ(SamplesToSeparate({}, {}), 0u);
}

}  // namespace
}  // namespace profiler::estimate
