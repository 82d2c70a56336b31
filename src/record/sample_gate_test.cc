#include "src/record/sample_gate.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "src/record/testing/gated_events.h"

namespace profiler::record {
namespace {

class SampleGateTest : public GatedEventsTest {
 protected:
  SampleGateTest() : GatedEventsTest({0, 1}, Switches::kYes) {}
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
