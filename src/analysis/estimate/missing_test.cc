#include "src/analysis/estimate/missing.h"

#include "gtest/gtest.h"

namespace profiler::estimate {
namespace {

// Returns 1000 samples; each of the second half stands for `weight`.
Missing Half(double weight, double gap) {
  Missing missing;
  for (int i = 0; i < 500; ++i) missing.Add(1, 0);
  for (int i = 0; i < 500; ++i) missing.Add(weight, gap);
  return missing;
}

// kLong has visits so long that few neighbours differ; kShort has visits of single samples.
constexpr ShareSamples kLong = {.samples = 1000, .count = 500, .changes = 20, .changes_at_two = 40};
constexpr ShareSamples kShort = {
    .samples = 1000, .count = 500, .changes = 500, .changes_at_two = 500};

TEST(Missing, WithoutGapsIsNothing) {
  const Missing missing = Half(1, 0);
  EXPECT_EQ(missing.samples(), 0);
  EXPECT_EQ(missing.InequalityOf(0.3, 300), 1);
  EXPECT_EQ(missing.VarianceOf(kLong), 0);
}

TEST(Missing, CountsWhatSamplesStandForBesideThemselves) {
  EXPECT_EQ(Half(3, 10).samples(), 1000);
  EXPECT_EQ(Half(3, 10).taken(), 1000);
}

TEST(Missing, UnequalWeightsTellAsMuchAsFewerEqualOnes) {
  // 1000 · (500·1 + 500·9) / 2000²; each half of the share has both weights.
  EXPECT_NEAR(Half(3, 10).InequalityOf(0.5, 2500), 1.25, 1e-9);
}

TEST(Missing, WhatIsMetByHeavySamplesIsKnownLessWell) {
  const Missing missing = Half(3, 10);
  // Compares two shares of a tenth: one only in heavy samples, the other only in light samples.
  EXPECT_GT(missing.InequalityOf(0.1, 200. / 3 * 9), 1.3 * missing.InequalityOf(0.1, 200));
}

TEST(Missing, ShortVisitsInGapsAreAsThoseElsewhere) {
  EXPECT_EQ(Half(2, 100).VarianceOf(kShort), 0);
}

TEST(Missing, LongVisitsMayFillAGap) {
  EXPECT_EQ(Half(2, 1).VarianceOf(kLong), 0);
  const double short_gaps = Half(2, 5).VarianceOf(kLong);
  const double long_gaps = Half(2, 50).VarianceOf(kLong);
  EXPECT_GT(short_gaps, 0);
  EXPECT_GT(long_gaps, 10 * short_gaps);
}

}  // namespace
}  // namespace profiler::estimate
