#include "src/fleet/agent/rate_control.h"

#include <gtest/gtest.h>

namespace profiler::agent {
namespace {

// Returns the rate after this many windows with that share each.
uint64_t After(RateControl& control, int windows, double share) {
  for (int i = 0; i < windows; ++i) control.Took(share);
  return control.frequency();
}

TEST(RateControl, BeginsWhereItWasTold) {
  EXPECT_EQ(RateControl({.least = 19, .most = 99, .first = 49}, 0.01).frequency(), 49u);
  EXPECT_EQ(RateControl({.least = 30, .most = 30, .first = 30}, 0.01).frequency(), 30u);
}

TEST(RateControl, AShortPeakChangesNothing) {
  RateControl control({}, 0.01);
  EXPECT_EQ(After(control, 2, 0.05), 49u);
  EXPECT_EQ(After(control, 1, 0.009), 49u);
  EXPECT_EQ(After(control, 2, 0.05), 49u);
}

TEST(RateControl, FallsAsFarAsTheBudgetAsks) {
  RateControl control({}, 0.01);
  EXPECT_EQ(After(control, 3, 0.012), 37u);
  RateControl far({}, 0.01);
  EXPECT_EQ(After(far, 3, 0.02), 23u);
}

TEST(RateControl, StaysWithinItsBoundsAndSaysWhatThatCosts) {
  RateControl control({}, 0.01);
  EXPECT_EQ(After(control, 100, 0.5), 19u);
  EXPECT_TRUE(control.is_over_budget());
  EXPECT_FALSE(control.Took(0.5));
  control.Took(0.009);
  EXPECT_FALSE(control.is_over_budget());
  RateControl idle({}, 0.01);
  EXPECT_EQ(After(idle, 1000, 0.0001), 99u);
}

TEST(RateControl, RisesAStepAfterAWhileOfRoom) {
  RateControl control({}, 0.01);
  EXPECT_EQ(After(control, 29, 0.004), 49u);
  EXPECT_EQ(After(control, 1, 0.004), 61u);
}

TEST(RateControl, DoesNotRiseToWhatWouldNotFit) {
  RateControl control({}, 0.01);
  EXPECT_EQ(After(control, 300, 0.0075), 49u);
}

TEST(RateControl, RestsBetweenBothLimits) {
  RateControl control({}, 0.01);
  EXPECT_EQ(After(control, 1000, 0.009), 49u);
}

TEST(RateControl, HoldsTheBudgetWherePartOfTheCostIsFixed) {
  RateControl control({}, 0.01);
  const auto share = [&] { return 0.003 + 0.0002 * static_cast<double>(control.frequency()); };
  int changes = 0;
  for (int i = 0; i < 1000; ++i) changes += control.Took(share());
  EXPECT_LE(share(), 0.01);
  EXPECT_LE(changes, 3);
}

}  // namespace
}  // namespace profiler::agent
