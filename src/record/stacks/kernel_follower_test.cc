#include "src/record/stacks/kernel_follower.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "src/record/testing/gated_events.h"

namespace profiler::record {
namespace {

class KernelFollowerTest : public GatedEventsTest {
 protected:
  KernelFollowerTest() : GatedEventsTest({0}) {}
};

TEST_F(KernelFollowerTest, TheProgramIsLoadedWithTheFirstThread) {
  KernelFollower follower(*gate_);
  EXPECT_EQ(state_.log, "");
  EXPECT_TRUE(follower.Follow(7, {}));
  EXPECT_TRUE(follower.Follow(8, {}));
  follower.Leave(7);
  EXPECT_EQ(state_.log, "gate\nstack cpu0\nfollow 7\nfollow 8\nleave 7\n");
}

TEST_F(KernelFollowerTest, AfterAFailureNothingIsTriedAgain) {
  state_.stack_error = EINVAL;
  KernelFollower follower(*gate_);
  EXPECT_FALSE(follower.Follow(7, {}));
  state_.stack_error = 0;
  EXPECT_FALSE(follower.Follow(8, {}));
  follower.Leave(7);
  EXPECT_EQ(state_.log, "gate\n");
}

TEST_F(KernelFollowerTest, AThreadBeyondTheLimitIsNotFollowed) {
  KernelFollower follower(*gate_);
  EXPECT_TRUE(follower.Follow(7, {}));
  state_.follow_error = E2BIG;
  EXPECT_FALSE(follower.Follow(8, {}));
}

}  // namespace
}  // namespace profiler::record
