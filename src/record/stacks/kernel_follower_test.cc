#include "src/record/stacks/kernel_follower.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "ringbuf/testing/fake_kernel.h"
#include "src/record/testing/fake_programs.h"

namespace profiler::record {
namespace {

// One thread on one CPU with the sideband and a sampling event.
class KernelFollowerTest : public ::testing::Test {
 protected:
  KernelFollowerTest() {
    ringbuf::EventSetOptions options;
    perf_event_attr attr{};
    attr.size = sizeof(attr);
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_DUMMY;
    options.attrs.push_back(attr);
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
    options.attrs.push_back(attr);
    options.cpus = {0};
    events_ = *ringbuf::EventSet::Create(kernel_, std::move(options));
    EXPECT_TRUE(events_->AddThread(7).ok());
    gate_ = std::make_unique<SampleGate>(
        *events_, SampleGateOptions{.samples = {1}, .output = attr, .on_output = [](uint64_t) {}},
        std::make_unique<FakePrograms>(state_));
  }

  ringbuf::FakeKernel kernel_;
  std::unique_ptr<ringbuf::EventSet> events_;
  FakePrograms::State state_;
  std::unique_ptr<SampleGate> gate_;
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
