#include "src/cli/recording/enabled_times.h"

#include <poll.h>
#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::cli {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

TEST(EnabledTimesTest, TimesAreToldFromADelay) {
  EXPECT_TRUE(IsEnabledTimes("10-20"));
  EXPECT_FALSE(IsEnabledTimes("10"));
  EXPECT_FALSE(IsEnabledTimes("-1"));
  EXPECT_FALSE(IsEnabledTimes(""));
}

TEST(EnabledTimesTest, TimesFollowEachOther) {
  const auto times = ParseEnabledTimes("10-20,20-40");
  ASSERT_TRUE(times.ok()) << times.status();
  EXPECT_THAT(*times, ElementsAre(EnabledTime{milliseconds(10), milliseconds(20)},
                                  EnabledTime{milliseconds(20), milliseconds(40)}));
  for (const char* wrong : {"20-10", "10-10", "10-20,15-30", "10-20-30", "a-b", "10-20,30"}) {
    EXPECT_EQ(ParseEnabledTimes(wrong).status().message(),
              std::string("--delay: '") + wrong +
                  "': give ascending times in milliseconds, such as 10-20,30-40");
  }
}

// Reads a line, and answers it.
std::string Obey(target::Control& control) {
  pollfd ready = {.fd = control.fd(), .events = POLLIN, .revents = 0};
  poll(&ready, 1, -1);
  std::string text;
  for (const target::Control::Command command : control.Take()) {
    text += command == target::Control::Command::kEnable    ? "enable"
            : command == target::Control::Command::kDisable ? "disable"
            : command == target::Control::Command::kPing    ? "ping"
                                                            : "?";
    control.Acknowledge();
  }
  return text;
}

TEST(EnabledTimesTest, SamplingIsEnabledAndDisabledInTurn) {
  const auto timed =
      TimedControl::Start({{milliseconds(0), milliseconds(1)}, {milliseconds(2), milliseconds(3)}});
  ASSERT_TRUE(timed.ok());
  const auto control = target::Control::Open((*timed)->places());
  ASSERT_TRUE(control.ok()) << control.status();
  for (const char* line : {"ping", "enable", "disable", "enable", "disable"}) {
    EXPECT_EQ(Obey(**control), line);
  }
}

TEST(EnabledTimesTest, TheEndDoesNotWaitForTheRecording) {
  const auto timed = TimedControl::Start({{milliseconds(0), milliseconds(1'000'000)}});
  EXPECT_TRUE(timed.ok());
}

}  // namespace
}  // namespace profiler::cli
