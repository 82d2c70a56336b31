#include "src/fleet/comparison/host_scale.h"

#include "gtest/gtest.h"

namespace profiler::fleet {
namespace {

// Makes ten functions with a tenth each on every host; the first one takes `more` times as much
// after.
std::vector<OfHosts> TenFunctions(double more) {
  std::vector<OfHosts> shares;
  for (int i = 0; i < 10; ++i) {
    const double after = (i == 0 ? more : 1) / (9 + more);
    shares.push_back({.before = {0.1, 0.1}, .after = {after, after}});
  }
  return shares;
}

constexpr double kMany = 1e6;  // samples

TEST(ScalesOf, IsOneWhereNothingChanged) {
  const HostScales scales =
      ScalesOf({.before = {kMany, kMany}, .after = {kMany, kMany}}, TenFunctions(1));
  for (const double scale : scales.scales.before) EXPECT_NEAR(scale, 1, 1e-6);
  for (const double scale : scales.scales.after) EXPECT_NEAR(scale, 1, 1e-6);
}

TEST(ScalesOf, IsWhatTheOthersHaveLeftWhereOneTakesMore) {
  const HostScales scales =
      ScalesOf({.before = {kMany, kMany}, .after = {kMany, kMany}}, TenFunctions(11));
  EXPECT_NEAR(scales.scales.before[0], 1, 1e-6);
  EXPECT_NEAR(scales.scales.after[0], 0.5, 1e-4);
}

TEST(ScalesOf, IsKnownWorseOfHostsWithFewSamples) {
  const HostScales scales =
      ScalesOf({.before = {kMany, 400}, .after = {kMany, kMany}}, TenFunctions(1));
  EXPECT_GT(scales.errors.before[1], 5 * scales.errors.before[0]);
}

TEST(ScalesOf, HostsWithNextToNoSamplesHaveNone) {
  const HostScales scales =
      ScalesOf({.before = {kMany, 100}, .after = {kMany, kMany}}, TenFunctions(3));
  EXPECT_EQ(scales.errors.before[1], 0);
}

TEST(ScalesOf, FunctionsThatAreLeftOutDoNotCount) {
  std::vector<OfHosts> shares = TenFunctions(1);
  // Six of the ten functions have half of their former share, so the other four have more.
  std::vector<bool> left_out(10);
  for (size_t i = 0; i < 10; ++i) {
    const double after = i < 6 ? 0.05 : 0.175;
    shares[i].after = {after, after};
    left_out[i] = i < 6;
  }
  const OfHosts samples = {.before = {kMany, kMany}, .after = {kMany, kMany}};
  EXPECT_LT(ScalesOf(samples, shares).scales.after[0], 1);
  EXPECT_GT(ScalesOf(samples, shares, left_out).scales.after[0], 1);
}

}  // namespace
}  // namespace profiler::fleet
