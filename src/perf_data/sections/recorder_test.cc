#include "gtest/gtest.h"
#include "src/perf_data/format/perf_data_format.h"
#include "src/perf_data/sections/own_sections.h"

namespace profiler::perf_data {
namespace {

TEST(RecorderSection, SaysThePriority) {
  Features features;
  EXPECT_EQ(ReadRecorder(features), std::nullopt);
  SetRecorder({.priority = "nice -20"}, &features);
  EXPECT_EQ(features.other[kFeatureRecorder], "priority\tnice -20\n");
  EXPECT_EQ(ReadRecorder(features), (RecorderFacts{.priority = "nice -20"}));
}

TEST(RecorderSection, MayHaveLinesOfLaterVersions) {
  Features features;
  features.other[kFeatureRecorder] = "colour\tblue\npriority\tSCHED_FIFO\x1b 10";
  EXPECT_EQ(ReadRecorder(features), (RecorderFacts{.priority = "SCHED_FIFO? 10"}));
}

}  // namespace
}  // namespace profiler::perf_data
