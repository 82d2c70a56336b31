#include "src/base/fair_budget.h"

#include "gtest/gtest.h"

namespace profiler {
namespace {

TEST(FairBudgetTest, GivesNobodyMoreThanASixteenthOfTheWhole) {
  FairBudget budget(1600);
  EXPECT_TRUE(budget.Take(1, 60));
  EXPECT_TRUE(budget.Take(1, 40));
  EXPECT_FALSE(budget.Take(1, 1));
  EXPECT_FALSE(budget.Take(2, UINT64_MAX));
  EXPECT_TRUE(budget.Take(2, 93));
}

TEST(FairBudgetTest, IsNeverExceededAndAlwaysHasSomethingForWhoComesLater) {
  constexpr uint64_t kWhole = 1 << 20;
  FairBudget budget(kWhole);
  uint64_t taken = 0;
  for (uint32_t who = 0; who < 100; ++who) {
    for (const uint64_t amount : {uint64_t{4096}, uint64_t{64}}) {
      while (budget.Take(who, amount)) taken += amount;
    }
  }
  EXPECT_LE(taken, kWhole);
  EXPECT_TRUE(budget.Take(1000, 64));
}

TEST(FairBudgetTest, GivesAgainWhatWasGivenBack) {
  FairBudget budget(1600);
  EXPECT_TRUE(budget.Take(1, 100));
  budget.Return(1, 30);
  budget.Return(2, 30);
  EXPECT_TRUE(budget.Take(1, 30));
  EXPECT_FALSE(budget.Take(1, 1));
}

TEST(FairBudgetTest, LetsWhoComesFirstHaveTheCommonPart) {
  FairBudget budget(3200, /*common=*/1600);
  EXPECT_TRUE(budget.Take(1, 100));
  EXPECT_TRUE(budget.Take(1, 1500));
  EXPECT_FALSE(budget.Take(1, 101));
  EXPECT_TRUE(budget.Take(1, 100));
  EXPECT_FALSE(budget.Take(1, 1));
  // The common part does not change the share of others.
  EXPECT_TRUE(budget.Take(2, 93));
  EXPECT_FALSE(budget.Take(2, 1));
  budget.Return(1, 50);
  EXPECT_TRUE(budget.Take(2, 50));
  EXPECT_FALSE(budget.Take(2, 1));
}

}  // namespace
}  // namespace profiler
