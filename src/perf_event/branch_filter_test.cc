#include "src/perf_event/branch_filter.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::perf_event {
namespace {

TEST(BranchFilterTest, NamesAreBits) {
  EXPECT_EQ(*ParseBranchFilter("any"), 0x8);
  EXPECT_EQ(*ParseBranchFilter("any_call,any_ret,u"), 0x31);
  EXPECT_EQ(*ParseBranchFilter("cond,save_type"), 0x10400);
}

TEST(BranchFilterTest, LevelsAloneAreOfAnyBranch) {
  EXPECT_EQ(*ParseBranchFilter("u,k"), 0xb);
  EXPECT_EQ(*ParseBranchFilter(""), 0x8);
}

TEST(BranchFilterTest, SaysWhichNamesThereAre) {
  const auto status = ParseBranchFilter("any,jump").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()),
              testing::StartsWith("branches: no 'jump'; there are u,k,hv,any,any_call,"));
}

}  // namespace
}  // namespace profiler::perf_event
