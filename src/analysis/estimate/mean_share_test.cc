#include "src/analysis/estimate/mean_share.h"

#include "gtest/gtest.h"

namespace profiler::estimate {
namespace {

// Returns a run of 10 000 independent samples, `count` of them in the function.
RunShare Dice(uint64_t count) {
  constexpr uint64_t kSamples = 10'000;
  const double share = static_cast<double>(count) / kSamples;
  const auto changes = static_cast<uint64_t>(2 * share * (1 - share) * kSamples);
  return {.samples = {.samples = kSamples,
                      .count = count,
                      .changes = changes,
                      .changes_at_two = changes},
          .share = share};
}

// Makes forty functions in three runs that differ by up to `points` hundredths of a point; the
// first function by `first`.
std::vector<SharesOfRuns> ThreeRuns(uint64_t points, uint64_t first) {
  std::vector<SharesOfRuns> functions;
  for (uint64_t i = 0; i < 40; ++i) {
    const uint64_t differs = i == 0 ? first : points;
    // A different order for each function.
    const auto varied = [&](uint64_t run) {
      return 1000 + differs * ((run * 7 + i * 5) % 11) / 10;
    };
    functions.push_back({Dice(varied(0)), Dice(varied(1)), Dice(varied(2))});
  }
  return functions;
}

TEST(MeanSharesOf, IsTheMeanOfTheRuns) {
  const SharesOfRuns runs = {Dice(1000), Dice(1200), Dice(1700)};
  EXPECT_NEAR(MeanSharesOf({&runs, 1})[0].share, 0.13, 1e-9);
  EXPECT_TRUE(MeanSharesOf({}).empty());
}

TEST(MeanSharesOf, RunsThatDifferMoreSayLess) {
  const double calm = MeanSharesOf(ThreeRuns(60, 60))[1].half_width;
  const double high_variance = MeanSharesOf(ThreeRuns(600, 600))[1].half_width;
  EXPECT_GT(high_variance, 3 * calm);
}

TEST(MeanSharesOf, RunsThatAreEqualSayNoMoreThanTheirSamples) {
  const SharesOfRuns equal = {Dice(1000), Dice(1000), Dice(1000)};
  EXPECT_GT(MeanSharesOf({&equal, 1})[0].half_width, 0.003);
}

TEST(MeanSharesOf, ManyFunctionsSayMoreThanOne) {
  const std::vector<SharesOfRuns> all = ThreeRuns(100, 100);
  EXPECT_LT(MeanSharesOf(all)[0].half_width, MeanSharesOf({all.data(), 1})[0].half_width);
}

TEST(MeanSharesOf, AFunctionThatDiffersMoreThanAllOthersCountsForItself) {
  const std::vector<SharesOfRuns> all = ThreeRuns(60, 2000);
  EXPECT_GE(MeanSharesOf(all)[0].half_width, MeanSharesOf({all.data(), 1})[0].half_width);
}

TEST(MeanSharesOf, OneRunHasTheIntervalOfItsSamples) {
  const SharesOfRuns one = {Dice(1000)};
  EXPECT_EQ(MeanSharesOf({&one, 1})[0].half_width,
            ShareInterval(one[0].samples, one[0].share).half_width());
}

}  // namespace
}  // namespace profiler::estimate
