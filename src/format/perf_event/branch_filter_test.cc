#include "src/format/perf_event/branch_filter.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::perf_event {
namespace {

TEST(BranchFilterTest, NamesAreBits) {
  EXPECT_EQ(*ParseBranchFilter("any"), 0x8u);
  EXPECT_EQ(*ParseBranchFilter("any_call,any_ret,u"), 0x31u);
  EXPECT_EQ(*ParseBranchFilter("cond,save_type"), 0x10400u);
  EXPECT_EQ(*ParseBranchFilter("counter"), 0x80000u);
  EXPECT_EQ(*ParseBranchFilter("ANY_Call"), 0x10u);
}

TEST(BranchFilterTest, LevelsAloneAreOfAnyBranch) { EXPECT_EQ(*ParseBranchFilter("u,k"), 0xbu); }

TEST(BranchFilterTest, SaysWhichNamesThereAre) {
  const auto status = ParseBranchFilter("any,jump").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()),
              testing::StartsWith("unknown branch filter 'jump': use u, k, hv, any, any_call,"));
  for (const char* wrong : {"", ",", "any,", "any call"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseBranchFilter(wrong).status())) << wrong;
  }
}

}  // namespace
}  // namespace profiler::perf_event
