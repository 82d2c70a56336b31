#include "src/count/print_counts.h"

#include <string>

#include "gtest/gtest.h"
#include "src/count/metrics.h"
#include "src/format/perf_event/event_name.h"

namespace profiler::count {
namespace {

class PrintCountsTest : public testing::Test {
 protected:
  void Event(const std::string& name) {
    events::FoundEvent& event = events_.emplace_back();
    event.name = name;
    event.attr = perf_event::FindKnownEvent(name).value_or(perf_event::Attr{.type = 9});
    event.leader = events_.size() - 1;
    result_.supported.push_back(true);
    result_.excludes_kernel.push_back(false);
  }
  // Adds a run of 2 seconds with one row of counts.
  StatRun& Run(std::vector<Count> counts) {
    StatRun& run = result_.runs.emplace_back();
    run.total.duration = run.total.end = std::chrono::seconds(2);
    run.total.rows = {CountRow{.places = 1, .counts = std::move(counts)}};
    return run;
  }
  std::string Result() { return CountPrinter(events_, options_).Result(result_, "'x'"); }

  std::vector<events::FoundEvent> events_;
  PrintOptions options_;
  StatResult result_;
};

constexpr uint64_t kSecond = 1'000'000'000;

TEST_F(PrintCountsTest, CountsStandWithTheirMetrics) {
  Event("task-clock");
  Event("page-faults");
  Event("cycles");
  Event("instructions");
  Run({{kSecond, kSecond, kSecond}, {4000, 9, 9}, {kSecond * 3, 9, 9}, {kSecond * 6, 9, 9}});
  result_.counts_command = true;
  result_.runs[0].user_time = std::chrono::milliseconds(900);
  EXPECT_EQ(Result(), R"(
 Performance counter stats for 'x':

          1,000.00 msec task-clock                       #    0.500 CPUs utilized
             4,000      page-faults                      #    4.000 K/sec
     3,000,000,000      cycles                           #    3.000 GHz
     6,000,000,000      instructions                     #    2.000 insn per cycle

       2.000000000 seconds time elapsed

       0.900000000 seconds user
       0.000000000 seconds sys

)");
}

TEST_F(PrintCountsTest, WhatWasNotCountedIsSaid) {
  Event("page-faults");
  Event("cs");
  Event("cycles");
  result_.supported[2] = false;
  result_.excludes_kernel[1] = true;
  Run({{0, 0, 0}, {5, 100, 25}, {0, 0, 0}});
  const std::string text = Result();
  EXPECT_NE(text.find("     <not counted>      page-faults\n"), std::string::npos) << text;
  EXPECT_NE(text.find("                20      cs:u                              (25.00%)\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("   <not supported>      cycles\n"), std::string::npos) << text;
}

TEST_F(PrintCountsTest, RepeatedCountsSayHowSureTheyAre) {
  Event("page-faults");
  for (const uint64_t faults : {10, 12, 14}) Run({{faults, 9, 9}});
  // Mean 12, deviation 2, 3 runs: ± 4.303 · 2 / √3 = 4.97, which is 41.4 % of 12.
  EXPECT_EQ(Result(), R"(
 Performance counter stats for 'x' (3 runs):

                12      page-faults                       ( +- 41.40% )

       2.000000000 +- 0.000000000 seconds time elapsed  ( +- 0.00% )

)");
}

TEST_F(PrintCountsTest, SeparatedValuesAreThoseOfPerf) {
  Event("task-clock");
  Event("cs");
  Run({{600831, 600831, 600831}, {0, 600831, 600831}});
  options_.format = Format::kSeparated;
  EXPECT_EQ(Result(),
            "0.60,msec,task-clock,600831,100.00,0.000,CPUs utilized\n"
            "0,,cs,600831,100.00,0.000,/sec\n");
}

TEST_F(PrintCountsTest, JsonSaysOfHowManyCpusACountIs) {
  Event("page-faults");
  Event("cycles");
  result_.supported[1] = false;
  StatRun& run = Run({{7, 9, 9}, {0, 0, 0}});
  run.total.rows[0].name = "S0-D0-C0";
  run.total.rows[0].places = 2;
  options_.format = Format::kPerfJson;
  options_.metrics = false;
  options_.aggregation = Aggregation::kCore;
  EXPECT_EQ(
      Result(),
      "{\"core\":\"S0-D0-C0\",\"counters\":2,\"counter-value\":\"7\",\"unit\":\"\",\"event\":"
      "\"page-faults\",\"event-runtime\":9,\"pcnt-running\":100.0}\n"
      "{\"core\":\"S0-D0-C0\",\"counters\":0,\"counter-value\":\"<not supported>\",\"unit\":\"\","
      "\"event\":\"cycles\",\"event-runtime\":0,\"pcnt-running\":0.0}\n");
}

TEST_F(PrintCountsTest, JsonHasAnObjectALine) {
  Event("task-clock");
  Run({{600000, 600000, 600000}});
  options_.format = Format::kPerfJson;
  options_.metrics = false;
  EXPECT_EQ(Result(),
            "{\"counter-value\":\"0.60\",\"unit\":\"msec\",\"event\":\"task-clock\","
            "\"event-runtime\":600000,\"pcnt-running\":100.0}\n");
}

// The columns are those that perf 7.2 prints.
TEST_F(PrintCountsTest, CgroupsHaveAColumnForPrograms) {
  Event("cs");
  Event("faults");
  events_[1].name = "faults in /web";
  events_[1].cgroup = "/web";
  Run({{3, 9, 9}, {4, 9, 9}});
  options_.metrics = false;
  EXPECT_NE(Result().find(" 4      faults in /web\n"), std::string::npos) << Result();
  options_.format = Format::kSeparated;
  EXPECT_EQ(Result(), "3,,cs,,9,100.00,,\n4,,faults,/web,9,100.00,,\n");
  options_.format = Format::kPerfJson;
  EXPECT_EQ(Result(),
            "{\"counter-value\":\"3\",\"unit\":\"\",\"event\":\"cs\",\"cgroup\":\"\","
            "\"event-runtime\":9,\"pcnt-running\":100.0}\n"
            "{\"counter-value\":\"4\",\"unit\":\"\",\"event\":\"faults\",\"cgroup\":\"/web\","
            "\"event-runtime\":9,\"pcnt-running\":100.0}\n");
}

TEST_F(PrintCountsTest, IntervalsStandBehindTheirEnd) {
  Event("cs");
  Run({{3, 9, 9}});
  const CountPrinter printer(events_, options_);
  EXPECT_EQ(printer.IntervalHead(), "#           time             counts unit events\n");
  EXPECT_EQ(printer.Interval(result_, result_.runs[0].total),
            "     2.000000000                  3      cs\n");
}

TEST_F(PrintCountsTest, RowsAreNamedAfterTheirPlaces) {
  Event("cs");
  Run({{3, 9, 9}});
  result_.runs[0].total.rows = {{"CPU0", 1, {{3, 9, 9}}}, {"CPU1", 1, {{4, 9, 9}}}};
  options_.aggregation = Aggregation::kCpu;
  options_.format = Format::kSeparated;
  EXPECT_EQ(Result(), "CPU0,3,,cs,9,100.00,,\nCPU1,4,,cs,9,100.00,,\n");
}

TEST_F(PrintCountsTest, UnitsOfAPmuScaleItsCounts) {
  Event("power/energy-pkg/");
  events_[0].unit = "Joules";
  events_[0].scale = 0.5;
  Run({{5, 9, 9}});
  const std::string text = Result();
  EXPECT_NE(text.find("              2.50 Joules power/energy-pkg/\n"), std::string::npos) << text;
}

TEST(MetricsTest, EveryMetricNamesEventsThatAreKnown) {
  for (const std::string& name : MetricNames()) {
    const auto events = EventsOfMetric(name);
    ASSERT_TRUE(events.ok());
    EXPECT_TRUE(events::FindEvents({}, *events).ok()) << *events;
  }
  EXPECT_EQ(EventsOfMetric("none").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace profiler::count
