#include "src/analysis/estimate/change.h"

#include "gtest/gtest.h"
#include "src/analysis/estimate/slices.h"

namespace profiler::estimate {
namespace {

// Returns a run of `samples` independent samples, `count` of them in the function.
RunShare Dice(uint64_t count, uint64_t samples = 10'000) {
  const double share = static_cast<double>(count) / static_cast<double>(samples);
  const auto changes =
      static_cast<uint64_t>(2 * share * (1 - share) * static_cast<double>(samples));
  return {.samples = {.samples = samples,
                      .count = count,
                      .changes = changes,
                      .changes_at_two = changes},
          .share = share};
}

TEST(ChangeOf, EqualSharesAreNoChange) {
  const Change change = ChangeOf(Dice(1000), Dice(1000));
  EXPECT_EQ(change.difference(), 0);
  EXPECT_EQ(change.chance, 1);
}

TEST(ChangeOf, ThreePointsOfTenThousandSamplesAreNoChance) {
  const Change change = ChangeOf(Dice(1000), Dice(1300));
  EXPECT_NEAR(change.difference(), 0.03, 1e-9);
  EXPECT_LT(change.chance, 1e-6);
  EXPECT_GT(change.half_width(), 0.005);
  EXPECT_LT(change.half_width(), 0.012);
}

TEST(ChangeOf, ThreePointsOfAHundredSamplesMayBe) {
  EXPECT_GT(ChangeOf(Dice(10, 100), Dice(13, 100)).chance, 0.2);
}

TEST(ChangeOf, AHandfulOfSamplesOnOneSideAloneIsJudgedByCounts) {
  // All six samples fell on the same side: 2 of 64 cases for independent samples.
  EXPECT_GT(ChangeOf(Dice(0), Dice(6)).chance, 2. / 64);
  EXPECT_LT(ChangeOf(Dice(0), Dice(6)).chance, 0.1);
  EXPECT_EQ(ChangeOf(Dice(0), Dice(0)).chance, 1);
}

TEST(ChangeOf, WhatVariesBetweenPiecesOfTheRunsMayVaryBetweenTheRuns) {
  // In the second run, every fourth piece has all of the function.
  std::vector<float> uneven(64), even(64);
  for (size_t i = 0; i < uneven.size(); ++i) uneven[i] = i % 4 == 0 ? 61 : -20.33f;
  RunShare before = Dice(1000), after = Dice(1300);
  before.excess = even;
  after.excess = uneven;
  const Change change = ChangeOf(before, after);
  EXPECT_GT(change.error, 2 * ChangeOf(Dice(1000), Dice(1300)).error);
}

TEST(ChangeOf, WhatBothRunsDoAtTheSamePointIsNoVariation) {
  std::vector<float> uneven(64);
  for (size_t i = 0; i < uneven.size(); ++i) uneven[i] = i < 16 ? 30 : -10;
  RunShare before = Dice(1000), after = Dice(1000);
  before.excess = after.excess = uneven;
  EXPECT_NEAR(ChangeOf(before, after).error, ChangeOf(Dice(1000), Dice(1000)).error, 1e-9);
}

// Makes functions whose shares vary from run to run by `points`. The first one also changes by
// `change`.
std::vector<Groups> ManyFunctions(uint64_t points, uint64_t change) {
  std::vector<Groups> functions;
  for (uint64_t i = 0; i < 40; ++i) {
    // A different order for each function.
    const auto varied = [&](uint64_t run) { return 1000 + points * ((run * 7 + i * 5) % 11) / 10; };
    const uint64_t more = i == 0 ? change : 0;
    functions.push_back(
        {.before = {Dice(varied(0)), Dice(varied(1)), Dice(varied(2))},
         .after = {Dice(varied(3) + more), Dice(varied(4) + more), Dice(varied(5) + more)}});
  }
  return functions;
}

TEST(ChangesOf, RunsThatVaryMuchHideAChangeThatOthersShow) {
  const std::vector<Change> calm = ChangesOf(ManyFunctions(60, 300));
  EXPECT_GE(LargestSignificantChance(calm, 0.01), calm[0].chance);
  const std::vector<Change> high_variance = ChangesOf(ManyFunctions(900, 300));
  EXPECT_LT(LargestSignificantChance(high_variance, 0.01), high_variance[0].chance);
}

TEST(ChangesOf, OneRunEachIsComparedAlone) {
  const Groups one = {.before = {Dice(1000)}, .after = {Dice(1300)}};
  EXPECT_EQ(ChangesOf({&one, 1})[0].chance, ChangeOf(Dice(1000), Dice(1300)).chance);
  EXPECT_TRUE(ChangesOf({}).empty());
}

TEST(LargestSignificantChance, AllowsForHowManyWereTried) {
  const auto changes = [](std::initializer_list<double> chances) {
    std::vector<Change> all;
    for (const double chance : chances) all.push_back({.chance = chance});
    return all;
  };
  EXPECT_EQ(LargestSignificantChance(changes({0.009}), 0.01), 0.009);
  EXPECT_EQ(LargestSignificantChance(changes({0.009, 0.5, 0.7}), 0.01), 0);
  // Both small p-values may be significant: the limit allows one false row in a hundred of the two.
  EXPECT_EQ(LargestSignificantChance(changes({0.001, 0.006, 0.7}), 0.01), 0.006);
  EXPECT_EQ(LargestSignificantChance({}, 0.01), 0);
}

TEST(ExcessOf, IsWhatASliceHasBeyondItsShare) {
  // Ten samples in four slices of 3, 2, 3 and 2; half of the samples are in the function.
  EXPECT_EQ(ExcessOf(std::vector<float>{3, 1, 1, 0}, 10), (std::vector<float>{1.5, 0, -0.5, -1}));
}

TEST(SlicesOf, FewSamplesHaveNone) {
  EXPECT_EQ(SlicesOf(127), 0u);
  EXPECT_EQ(SlicesOf(128), 64u);
  EXPECT_EQ(SlicesOf(1024), 512u);
}

}  // namespace
}  // namespace profiler::estimate
