#include "src/format/otlp/event_types.h"

#include <gtest/gtest.h>

#include <string>

namespace profiler::otlp {
namespace {

// Returns "type/unit every period_type/period_unit", from which Pyroscope builds a name.
std::string TypesText(std::string_view event, bool is_time) {
  const EventTypes types = TypesOf(event, is_time);
  return types.type + "/" + types.unit + " every " + types.period_type + "/" + types.period_unit +
         (types.values_have_period ? "" : ", values without");
}

TEST(EventTypes, OfClocksAreCpuTime) {
  EXPECT_EQ(TypesText("cpu-clock", true), "cpu/nanoseconds every cpu/nanoseconds");
  EXPECT_EQ(TypesText("task-clock:u", true), "cpu/nanoseconds every cpu/nanoseconds");
  EXPECT_EQ(TypesText("wall-clock", true), "wall-clock/nanoseconds every wall-clock/nanoseconds");
}

TEST(EventTypes, OfTimesOffTheCpuHaveNoPeriod) {
  for (const char* const event : {"offcpu-time", "preempted-time"}) {
    EXPECT_EQ(TypesText(event, true),
              "off_cpu/nanoseconds every context_switch/count, values without");
  }
}

TEST(EventTypes, OfOthersAreTheEventsWithoutColons) {
  EXPECT_EQ(TypesText("cycles:u", false), "cycles_u/count every cycles_u/count");
  EXPECT_EQ(TypesText("sched:sched_switch", false),
            "sched_sched_switch/count every sched_sched_switch/count");
}

TEST(MeanPeriod, IsNeverNone) {
  EXPECT_EQ(MeanPeriod(1000, 3), 333);
  EXPECT_EQ(MeanPeriod(0, 3), 1);
  EXPECT_EQ(MeanPeriod(7, 0), 1);
}

}  // namespace
}  // namespace profiler::otlp
