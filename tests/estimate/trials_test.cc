// A short form of the experiment that chose the estimates: enough runs to find a wrong estimate,
// few enough for every test run.

#include "tests/estimate/trials.h"

#include "gtest/gtest.h"

namespace profiler::estimate {
namespace {

// If 95 of 100 intervals contain the truth, only one test in 10,000 has fewer than 50 of 60 such
// intervals.
constexpr size_t kRuns = 60;
constexpr double kCovered = 50. / kRuns;
constexpr double kSamples = 3000;  // samples per run

class IntervalsTest : public testing::TestWithParam<size_t> {};

TEST_P(IntervalsTest, HaveTheTruthAndAreAtMostTwiceAsWideAsNeeded) {
  const LoadKind kind = KindsOfLoad()[GetParam()];
  Random random(1);
  for (const double share : {0.02, 0.3}) {
    const IntervalTrial trial = TryIntervals(kind, share, kSamples, kRuns, random);
    EXPECT_GE(trial.ours.covered, kCovered) << kind.name << ", share " << share;
    // kRuns runs give only a rough value of `narrowest`.
    EXPECT_LE(trial.ours.width, 3 * trial.narrowest) << kind.name << ", share " << share;
  }
}

INSTANTIATE_TEST_SUITE_P(Loads, IntervalsTest, testing::Range<size_t>(0, KindsOfLoad().size()));

TEST(Intervals, OfLongVisitsAreAFractionOfWilsons) {
  Random random(1);
  for (const LoadKind& kind : KindsOfLoad()) {
    if (kind.name != "even, rounds of 100") continue;
    const IntervalTrial trial = TryIntervals(kind, 0.5, kSamples, kRuns, random);
    EXPECT_LT(trial.ours.width, trial.wilson.width / 5);
  }
}

TEST(Changes, OfIdenticalRunsAreNone) {
  Random random(1);
  for (const PairLoad& load : LoadsOfPairs()) {
    for (const size_t runs : {1, 3}) {
      // Up to 2 % of the pairs may show a change. At that rate more than three of 30 pairs show one
      // in about one test of 350.
      EXPECT_LE(TryPairs(load, runs, kSamples, 0, 0, 30, random).any, 3. / 30) << load.name;
    }
  }
}

TEST(Changes, OfThreePointsAreFoundInTenThousandSamples) {
  Random random(1);
  const PairLoad load = LoadsOfPairs()[0];
  EXPECT_GE(TryPairs(load, 1, 10'000, /*changed=*/4, 3, 20, random).found, 0.9);
  EXPECT_GE(TryPairs(load, 3, 10'000, /*changed=*/0, 3, 20, random).found, 0.9);
}

TEST(Means, OverRunsHaveTheTruthAsOftenAsTheySay) {
  Random random(1);
  // Loads with shorter visits take far longer to simulate.
  for (const size_t load : {1, 3}) {
    for (const RunDifferences& differences : KindsOfRunDifferences()) {
      const PairLoad of = LoadsOfPairs()[load];
      // Each run has a dozen functions, many of which vary together.
      const MeanTrial trial = TryMeans(of, differences, 4, kSamples, 20, random);
      EXPECT_GE(trial.ours.covered, 0.9) << of.name << ", " << differences.name;
      EXPECT_GE(trial.high_variance.covered, 0.7) << of.name << ", " << differences.name;
      EXPECT_LT(trial.ours.width, trial.students.width) << of.name << ", " << differences.name;
    }
  }
}

TEST(Means, OfOneRunKnowNothingOfOtherRuns) {
  Random random(1);
  const RunDifferences differences = KindsOfRunDifferences()[2];
  const PairLoad load = LoadsOfPairs()[1];
  EXPECT_LT(TryMeans(load, differences, 2, kSamples, 30, random).of_one.covered, 0.8);
}

}  // namespace
}  // namespace profiler::estimate
