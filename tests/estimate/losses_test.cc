// A short form of the experiment on lost samples.

#include "tests/estimate/losses.h"

#include <cmath>
#include <string_view>

#include "gtest/gtest.h"

namespace profiler::estimate {
namespace {

// Number of runs, as in trials_test.cc. If 95 of 100 intervals contain the truth, only one test in
// 10,000 has fewer than 50 of 60 such intervals.
constexpr size_t kRuns = 60;
constexpr double kCovered = 50. / kRuns;
constexpr double kSamples = 5000;

LoadKind LoadCalled(std::string_view name) {
  for (const LoadKind& kind : KindsOfLoad()) {
    if (kind.name == name) return kind;
  }
  ADD_FAILURE() << "there is no load " << name;
  return {};
}

class LossesTest : public testing::TestWithParam<size_t> {};

TEST_P(LossesTest, OfStationaryLoadsLeaveTheTruthInTheInterval) {
  const LossKind loss = KindsOfLoss()[GetParam()];
  for (const char* load : {"even, rounds of 0.5", "at random, rounds of 10", "even, rounds of 100",
                           "drifting, rounds of 5"}) {
    Random random(1);
    const LossTrial trial = TryLosses(LoadCalled(load), loss, 0.3, kSamples, kRuns, random);
    EXPECT_GE(trial.ours.interval.covered, kCovered) << load << ", " << loss.name;
    EXPECT_LT(std::abs(trial.ours.bias), 0.01) << load << ", " << loss.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, LossesTest, testing::Range<size_t>(0, KindsOfLoss().size()));

TEST(Losses, OfOnePhaseNoLongerMakeItSeemShorter) {
  for (const LossKind& loss : KindsOfLoss()) {
    // If hardly any samples of a phase are left, no weights can make up for the loss.
    if (!loss.name.starts_with("in a phase") || loss.name.ends_with("by 900")) continue;
    Random random(1);
    const LossTrial trial = TryLosses(LoadCalled("in phases"), loss, 0.3, 10'000, kRuns, random);
    EXPECT_LT(trial.raw.bias, -0.02) << loss.name;
    EXPECT_EQ(trial.raw.interval.covered, 0) << loss.name;
    EXPECT_LT(std::abs(trial.ours.bias), 0.2 * std::abs(trial.raw.bias)) << loss.name;
    EXPECT_GE(trial.ours.interval.covered, kCovered) << loss.name;
  }
}

}  // namespace
}  // namespace profiler::estimate
