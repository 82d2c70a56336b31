#include "src/record/sample_gate.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "ringbuf/testing/fake_kernel.h"
#include "src/record/testing/fake_programs.h"

namespace profiler::record {
namespace {

// One thread on two CPUs with the sideband (config 9), a sampling event (config 0) and context
// switches (config 3).
class SampleGateTest : public ::testing::Test {
 protected:
  SampleGateTest() {
    ringbuf::EventSetOptions options;
    perf_event_attr attr{};
    attr.size = sizeof(attr);
    attr.type = PERF_TYPE_SOFTWARE;
    for (const uint64_t config :
         {PERF_COUNT_SW_DUMMY, PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_CONTEXT_SWITCHES}) {
      attr.config = config;
      options.attrs.push_back(attr);
    }
    options.cpus = {0, 1};
    events_ = *ringbuf::EventSet::Create(kernel_, std::move(options));
    EXPECT_TRUE(events_->AddThread(7).ok());
    attr.config = PERF_COUNT_SW_BPF_OUTPUT;
    gate_ = std::make_unique<SampleGate>(
        *events_,
        SampleGateOptions{.samples = {1},
                          .switches = {2},
                          .output = attr,
                          .on_output = [this](uint64_t id) { outputs_.push_back(id); }},
        std::make_unique<FakePrograms>(state_));
  }

  ringbuf::FakeKernel kernel_;
  std::unique_ptr<ringbuf::EventSet> events_;
  FakePrograms::State state_;
  std::vector<uint64_t> outputs_;
  std::unique_ptr<SampleGate> gate_;
};

TEST_F(SampleGateTest, SamplesAndSwitchesHaveGatesOfTheirOwn) {
  EXPECT_TRUE(gate_->Attach().ok());
  EXPECT_TRUE(gate_->Attach().ok());
  EXPECT_EQ(state_.log, "gate\n");
  EXPECT_EQ(kernel_.Describe(),
            "id 1: tid 7 config 9 enabled owns the ring of cpu 0\n"
            "id 2: tid 7 config 0 enabled runs program 77 -> ring of cpu 0\n"
            "id 3: tid 7 config 3 enabled runs program 78 -> ring of cpu 0\n"
            "id 4: tid 7 config 9 enabled owns the ring of cpu 1\n"
            "id 5: tid 7 config 0 enabled runs program 77 -> ring of cpu 1\n"
            "id 6: tid 7 config 3 enabled runs program 78 -> ring of cpu 1\n");
}

TEST_F(SampleGateTest, OutputsAreOpenedOnceForAllPrograms) {
  EXPECT_EQ(gate_->Outputs()->size(), 2u);
  EXPECT_EQ(gate_->Outputs()->size(), 2u);
  EXPECT_EQ(outputs_.size(), 2u);
  EXPECT_EQ(state_.log, "gate\n");
}

TEST_F(SampleGateTest, AFailureIsReturnedAgainAndNothingIsTried) {
  state_.gate_error = EPERM;
  EXPECT_EQ(ErrnoOf(gate_->Attach()), EPERM);
  state_.gate_error = 0;
  EXPECT_EQ(ErrnoOf(gate_->Attach()), EPERM);
  EXPECT_EQ(ErrnoOf(gate_->Outputs().status()), EPERM);
  EXPECT_EQ(state_.log, "");
}

}  // namespace
}  // namespace profiler::record
