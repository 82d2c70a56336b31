#include "src/record/flight_trigger.h"

#include <chrono>
#include <string>

#include "gtest/gtest.h"

namespace profiler::record {
namespace {

using Kind = FlightTrigger::Kind;

FlightTrigger Parse(const std::string& text) {
  const auto trigger = ParseFlightTrigger(text);
  EXPECT_TRUE(trigger.ok()) << trigger.status();
  return trigger.ok() ? *trigger : FlightTrigger();
}

TEST(FlightTriggerTest, EndsOfProcessesMayHaveANumber) {
  EXPECT_EQ(Parse("exit").kind, Kind::kExit);
  EXPECT_EQ(Parse("exit").number, -1);
  EXPECT_EQ(Parse("exit:3").number, 3);
  EXPECT_EQ(Parse("signal").kind, Kind::kSignal);
  EXPECT_EQ(Parse("signal:11").number, 11);
}

TEST(FlightTriggerTest, LimitsAreInPercentOrInTime) {
  EXPECT_EQ(Parse("cpu>90%").kind, Kind::kCpuAbove);
  EXPECT_EQ(Parse("cpu<2.5%").kind, Kind::kCpuBelow);
  EXPECT_EQ(Parse("cpu<2.5%").percent, 2.5);
  EXPECT_EQ(Parse("blocked>100ms").kind, Kind::kBlocked);
  EXPECT_EQ(Parse("blocked>100ms").time, std::chrono::milliseconds(100));
  EXPECT_EQ(Parse("blocked>1.5s").time, std::chrono::milliseconds(1500));
  EXPECT_EQ(Parse("blocked>20us").time, std::chrono::microseconds(20));
  EXPECT_EQ(Parse("blocked>2m").time, std::chrono::minutes(2));
  EXPECT_EQ(Parse("psi:memory>20%").kind, Kind::kPressure);
  EXPECT_EQ(Parse("psi:memory>20%").name, "memory");
  EXPECT_EQ(Parse("psi:memory>20%").percent, 20);
}

TEST(FlightTriggerTest, TheNameOfAnEventIsNotLookedAt) {
  EXPECT_EQ(Parse("event:sched:sched_switch").kind, Kind::kEvent);
  EXPECT_EQ(Parse("event:sched:sched_switch").name, "sched:sched_switch");
}

TEST(FlightTriggerTest, SaysWhatATriggerIs) {
  for (const char* wrong :
       {"", "exit:", "exit:256", "exit3", "signal:0", "signal:65", "cpu", "cpu>", "cpu>90",
        "cpu>-1%", "cpu>nan%", "blocked>5", "blocked>0ms", "blocked>s", "blocked>inf",
        "blocked>-1s", "psi:net>5%", "psi:cpu", "event:"}) {
    const auto trigger = ParseFlightTrigger(wrong);
    ASSERT_FALSE(trigger.ok()) << wrong;
    EXPECT_TRUE(std::string(trigger.status().message())
                    .starts_with("'" + std::string(wrong) + "' is not a trigger; give exit[:CODE]"))
        << trigger.status();
  }
}

}  // namespace
}  // namespace profiler::record
