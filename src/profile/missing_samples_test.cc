// Tests the weights of samples next to missing ones, for all kinds of records about losses.

#include <cmath>
#include <map>
#include <string>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/testing/record_builder.h"
#include "src/profile/profile_builder.h"
#include "src/profile/testing/fake_symbolizer.h"

namespace profiler::profile {
namespace {

using perf_event::Attr;
using perf_event::RecordBuilder;

constexpr uint64_t kType = perf_event::kSampleIp | perf_event::kSampleTid |
                           perf_event::kSampleTime | perf_event::kSampleId |
                           perf_event::kSampleCpu | perf_event::kSamplePeriod;
constexpr uint64_t kDistance = 10;  // time between samples, in ns
constexpr uint64_t kHere = 0x1000, kThere = 0x2000;

// Records of a clock, with one or two counters.
class MissingSamplesTest : public testing::Test {
 protected:
  RecordBuilder& records() { return records_; }

  // Adds samples at equal distances, of the present CPU and thread.
  void Run(size_t samples, uint64_t ip = kHere) {
    for (size_t i = 0; i < samples; ++i) records_.At(now_ += kDistance).Sample(ip);
  }
  void Pass(uint64_t samples) { now_ += samples * kDistance; }
  RecordBuilder& Now() { return records_.At(now_); }

  Profile Build(BuilderOptions options = {}) {
    options.keep_order = true;
    ProfileBuilder builder(symbolizer_, options);
    for (size_t event = 0; event < events_; ++event) {
      builder.AddEvent(absl::StrFormat("event%d", event), records_.attr());
    }
    for (const perf_event::RawRecord record : records_.records()) {
      const auto id = static_cast<uint32_t>(IdOf(record, records_.layout()));
      builder.Add(record, id < 2 ? 0 : id - 1, TimeOf(record, records_.layout()));
    }
    return std::move(builder).Unnamed().profile;
  }

  // Returns one line per stream: its samples and the sum of their weights.
  std::string Weights(const BuilderOptions& options = {}) {
    const Profile profile = Build(options);
    std::map<std::pair<EventId, uint32_t>, std::pair<int, double>> streams;
    for (const OrderedSample& sample : profile.order) {
      auto& [count, weight] = streams[{profile.rows[sample.row].event, sample.stream}];
      ++count;
      weight += sample.weight;
    }
    std::string text;
    for (const auto& [id, stream] : streams) {
      absl::StrAppendFormat(&text, "event%d on %d: %d weigh %.4g\n", id.first, id.second,
                            stream.first, stream.second);
    }
    return text;
  }

  Attr attr_ = perf_event::SampleAttr(kType);
  RecordBuilder records_ = RecordBuilder(attr_).By(7, 7).Period(kDistance);
  size_t events_ = 1;
  FakeSymbolizer symbolizer_;
  uint64_t now_ = 1000;
};

TEST_F(MissingSamplesTest, OfARingStandOnItsCpuAlone) {
  records().On(0);
  Run(40);
  records().On(1);
  Run(20);
  Now().Lost(20);
  Run(20);
  EXPECT_EQ(Weights(),
            "event0 on 0: 40 weigh 40\n"
            "event0 on 1: 40 weigh 60\n");
}

TEST_F(MissingSamplesTest, WhereOneOfTwoPhasesLostHalfBothHaveTheirTimeAgain) {
  for (int round = 0; round < 10; ++round) {
    Run(300, kHere);
    for (int burst = 0; burst < 5; ++burst) {
      Run(30, kThere);
      Pass(30);
      Now().Lost(30);
    }
  }
  const Profile profile = Build();
  double here = 0, there = 0;
  for (const OrderedSample& sample : profile.order) {
    const bool is_here = profile[profile.rows[sample.row].self].ip.value == kHere;
    (is_here ? here : there) += sample.weight;
  }
  EXPECT_NEAR(profile.rows[1].period, profile.rows[0].period / 2, 1);
  // The gap lies between two phases, so half of its samples count for each phase.
  EXPECT_NEAR(there / (here + there), 0.5, 0.03);
}

TEST_F(MissingSamplesTest, AreNotTheOtherRecordsThatTheRingLost) {
  Run(20);
  for (int i = 0; i < 20; ++i) Now().Comm("name");
  Now().Lost(10);
  EXPECT_EQ(Weights(), "event0 on 0: 20 weigh 25\n");
}

TEST_F(MissingSamplesTest, AreOfTheEventsOfARingInProportion) {
  events_ = 2;
  records().Id(1);
  Run(30);
  records().Id(2);
  Run(10);
  Now().Lost(20);
  EXPECT_EQ(Weights(),
            "event0 on 0: 30 weigh 45\n"
            "event1 on 0: 10 weigh 15\n");
}

TEST_F(MissingSamplesTest, OfACpuWithoutSamplesAreOfAllOthers) {
  records().On(0);
  Run(10);
  records().On(1);
  Run(10);
  records().On(2);
  Now().Lost(10);
  EXPECT_EQ(Weights(),
            "event0 on 0: 10 weigh 13.75\n"
            "event0 on 1: 10 weigh 16.25\n");
}

TEST_F(MissingSamplesTest, AreTheTimeOfThrottlingInDistances) {
  Run(50);
  Now().Throttle();
  Pass(20);
  Now().Add(perf_event::kRecordUnthrottle, 0,
            perf_event::Throttle{.time = now_, .sample_id = {.pid = 7, .tid = 7, .time = now_}});
  Run(50);
  EXPECT_EQ(Weights(), "event0 on 0: 100 weigh 120\n");
}

TEST_F(MissingSamplesTest, OfThrottlingEndWithTheSecondSampleIfNothingElseSaysSo) {
  Run(50);
  // The record precedes the sample that exceeded the limit.
  Now().Throttle().Sample(kHere);
  Pass(20);
  Run(50);
  EXPECT_EQ(Weights(), "event0 on 0: 101 weigh 122\n");
}

TEST_F(MissingSamplesTest, OfThrottlingWithoutEndEndWithTheCpusLastSample) {
  events_ = 2;
  records().Id(1);
  Run(50);
  Now().Throttle();
  records().Id(2);
  Run(20);
  EXPECT_EQ(Weights(),
            "event0 on 0: 50 weigh 70\n"
            "event1 on 0: 20 weigh 20\n");
}

TEST_F(MissingSamplesTest, AreOfTheEventThatLostThem) {
  events_ = 2;
  records().Id(1);
  Run(30);
  records().Id(2);
  Run(30);
  Now().LostSamples(6);
  EXPECT_EQ(Weights(),
            "event0 on 0: 30 weigh 30\n"
            "event1 on 0: 30 weigh 36\n");
}

TEST_F(MissingSamplesTest, ThatTheCountersTellWithoutATimeAreEverywhere) {
  records().Id(1).At(0).LostSamples(20);
  Run(100);
  EXPECT_EQ(Weights(), "event0 on 0: 100 weigh 120\n");
  EXPECT_FLOAT_EQ(Build().order[0].weight, 1.2);
  EXPECT_FLOAT_EQ(Build().order[99].weight, 1.2);
}

TEST_F(MissingSamplesTest, AreCountedOnceIfBothTheRingAndTheCountersTellOfThem) {
  records().Id(1).At(0).LostSamples(20);
  Run(50);
  Now().Lost(30);
  Run(50);
  EXPECT_EQ(Weights(), "event0 on 0: 100 weigh 120\n");
  EXPECT_EQ(Build().order[0].weight, 1);
}

TEST_F(MissingSamplesTest, AreNotThoseThatAFilterLeftOut) {
  Run(50);
  Now().Add(perf_event::kRecordLostSamples, 1 << 15,
            perf_event::LostSamples{.lost = 9, .sample_id = {.time = now_}});
  EXPECT_EQ(Weights(), "event0 on 0: 50 weigh 50\n");
}

TEST_F(MissingSamplesTest, AreThoseOfTheTimeAndTheCpusThatAreLookedAt) {
  records().On(0);
  Run(50);
  Now().Lost(10);
  const uint64_t first = now_ + 1;
  Run(50);
  records().On(1);
  Now().Lost(10);
  EXPECT_EQ(Weights({.samples = {.first = first, .cpus = {0}}}), "event0 on 0: 50 weigh 50\n");
}

TEST_F(MissingSamplesTest, OfImpossibleNumbersAreFinite) {
  records().On(1);
  Run(5);
  Now().Lost(UINT64_MAX).Lost(UINT64_MAX).Throttle();
  now_ = UINT64_MAX - 1000;
  Run(5);
  records().At(0).Id(1).LostSamples(UINT64_MAX);
  const Profile profile = Build();
  ASSERT_EQ(profile.order.size(), 10u);
  for (const OrderedSample& sample : profile.order) {
    EXPECT_TRUE(std::isfinite(sample.weight) && std::isfinite(sample.gap));
    EXPECT_GE(sample.weight, 1);
  }
}

}  // namespace
}  // namespace profiler::profile
