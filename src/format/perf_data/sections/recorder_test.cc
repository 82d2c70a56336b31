#include "gtest/gtest.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/sections/own_sections.h"

namespace profiler::perf_data {
namespace {

TEST(RecorderSection, SaysThePriority) {
  Features features;
  EXPECT_EQ(ReadRecorder(features), std::nullopt);
  SetRecorder({.priority = "nice -20"}, &features);
  EXPECT_EQ(features.other[kFeatureRecorder], "priority\tnice -20\n");
  EXPECT_EQ(ReadRecorder(features), (RecorderFacts{.priority = "nice -20"}));
}

TEST(RecorderSection, SaysWhatIsEstimated) {
  Features features;
  const RecorderFacts facts{
      .estimates = {{"offcpu-time", 1000, 100, 5'000'000, 42.5}, {"preempted-time", 9, 1, 8, 1}}};
  SetRecorder(facts, &features);
  EXPECT_EQ(features.other[kFeatureRecorder],
            "estimate\toffcpu-time\t1000\t100\t5000000\t42.5\n"
            "estimate\tpreempted-time\t9\t1\t8\t1\n");
  EXPECT_EQ(ReadRecorder(features), facts);
}

TEST(RecorderSection, SaysHowMuchOfStacksWasCopied) {
  Features features;
  SetRecorder({.copied_stack = 65528}, &features);
  EXPECT_EQ(features.other[kFeatureRecorder], "copied-stack\t65528\n");
  EXPECT_EQ(ReadRecorder(features), (RecorderFacts{.copied_stack = 65528}));
}

TEST(RecorderSection, SaysForWhichMomentAFlightRecorderWroteTheFile) {
  Features features;
  const RecorderFacts facts{
      .moment = RecorderFacts::Moment{
          .time = 70, .before = 30, .after = 5, .dropped = 2, .reason = "SIGUSR2"}};
  SetRecorder(facts, &features);
  EXPECT_EQ(features.other[kFeatureRecorder], "moment\t70\t30\t5\t2\tSIGUSR2\n");
  EXPECT_EQ(ReadRecorder(features), facts);
  features.other[kFeatureRecorder] = "moment\t70\t-1\t5\t2\tSIGUSR2\n";
  EXPECT_EQ(ReadRecorder(features), RecorderFacts());
}

TEST(RecorderSection, PassesOverEstimatesThatAreNone) {
  Features features;
  features.other[kFeatureRecorder] =
      "estimate\toffcpu-time\t1000\nestimate\tx\t1\t1\t1\tnan\nestimate\ty\t1\t1\t1\t-1\n";
  EXPECT_EQ(ReadRecorder(features), RecorderFacts());
}

TEST(RecorderSection, MayHaveLinesOfLaterVersions) {
  Features features;
  features.other[kFeatureRecorder] = "colour\tblue\npriority\tSCHED_FIFO\x1b 10";
  EXPECT_EQ(ReadRecorder(features), (RecorderFacts{.priority = "SCHED_FIFO? 10"}));
}

}  // namespace
}  // namespace profiler::perf_data
