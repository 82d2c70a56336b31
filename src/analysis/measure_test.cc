#include "src/analysis/measure.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "src/analysis/keyed_rows.h"
#include "src/profile/testing/handmade_profile.h"

namespace profiler::analysis {
namespace {

using profile::EventId;
using profile::HandmadeProfile;
using profile::Profile;

// Returns one line per function. First come the samples and the period of the function itself, then
// the same including callees. Samples are "count/changes".
std::string Figures(const Profile& profile) {
  const KeyedRows keys(profile, EventId{0}, KeyBy::kFunction);
  const Measurement measured = Measure(profile, EventId{0}, keys);
  std::string text;
  for (KeyId key = 0; key < keys.size(); ++key) {
    const Measured& self = measured.self[key];
    const Measured& total = measured.total[key];
    text += absl::StrFormat("%s %d/%d %d  %d/%d %d\n", keys.name(key), self.samples.count,
                            self.samples.changes, self.period, total.samples.count,
                            total.samples.changes, total.period);
  }
  return text;
}

TEST(Measure, CountsSamplesWeightsAndChanges) {
  HandmadeProfile builder;
  builder.InOrder();
  builder.Sample("app", {"main@app", "read@app"}, 2, 10).Sample("app", {"main@app"}, 1, 10);
  builder.Sample("app", {"main@app", "read@app"}, 1, 30);
  EXPECT_EQ(Figures(builder.profile()),
            "read 3/2 50  3/2 50\n"
            "main 1/2 10  4/0 60\n");
}

TEST(Measure, SamplesOfTwoCpusAreNoNeighbours) {
  HandmadeProfile builder;
  builder.InOrder();
  for (int i = 0; i < 3; ++i) {
    builder.Cpu(0).Sample("app", {"a@app"}, 1, 1000).Cpu(1).Sample("app", {"b@app"}, 1, 1000);
  }
  EXPECT_EQ(Figures(builder.profile()),
            "a 3/0 3000  3/0 3000\n"
            "b 3/0 3000  3/0 3000\n");
}

TEST(Measure, SamplesOfUnequalWeightTellAsMuchAsFewerEqualOnes) {
  HandmadeProfile builder;
  builder.InOrder().Sample("app", {"a@app"}, 3, 1).Sample("app", {"b@app"}, 1, 9);
  const Profile& profile = builder.profile();
  const KeyedRows keys(profile, EventId{0}, KeyBy::kFunction);
  // 4 · (3·1 + 81) / 12²
  EXPECT_NEAR(Measure(profile, EventId{0}, keys).inequality, 4 * 84 / 144., 1e-9);
}

TEST(Measure, WhatIsCountedAndNotSampledIsExact) {
  HandmadeProfile builder;
  builder.InOrder().Sample("app", {"a@app"}, 3, 1).Sample("app", {"b@app"}, 1, 1);
  const Profile& profile = builder.profile();
  const KeyedRows keys(profile, EventId{0}, KeyBy::kFunction);
  const Measurement measured = Measure(profile, EventId{0}, keys);
  EXPECT_TRUE(measured.is_count);
  EXPECT_EQ(measured.IntervalOf(measured.self[0]).low, 0.75);
  EXPECT_EQ(measured.IntervalOf(measured.self[0]).high, 0.75);
}

TEST(Measure, ABeatWidensTheInterval) {
  HandmadeProfile regular, uneven;
  regular.InOrder();
  uneven.InOrder();
  // Ten visits of 1000 samples in total, and ten pauses of the same total.
  for (int i = 0; i < 10; ++i) {
    regular.Sample("app", {"a@app"}, 100).Sample("app", {"b@app"}, 100);
  }
  for (const auto& [visit, pause] : {std::pair(37, 190),
                                     {210, 25},
                                     {80, 130},
                                     {15, 300},
                                     {160, 45},
                                     {90, 60},
                                     {240, 20},
                                     {55, 110},
                                     {70, 80},
                                     {43, 40}}) {
    uneven.Sample("app", {"a@app"}, static_cast<uint64_t>(visit));
    uneven.Sample("app", {"b@app"}, static_cast<uint64_t>(pause));
  }
  const auto width = [](const Profile& profile) {
    const KeyedRows keys(profile, EventId{0}, KeyBy::kFunction);
    const Measurement measured = Measure(profile, EventId{0}, keys);
    return measured.IntervalOf(measured.self[0]).half_width();
  };
  EXPECT_GT(width(regular.profile()), 5 * width(uneven.profile()));
}

// Makes two phases of equal length; the second one lost half of its samples.
HandmadeProfile TwoPhases(float weight, float gap) {
  HandmadeProfile builder;
  builder.InOrder();
  for (int i = 0; i < 500; ++i) builder.Sample("app", {"main@app", "a@app"});
  builder.StandingFor(weight, gap);
  for (int i = 0; i < 250; ++i) builder.Sample("app", {"main@app", "b@app"});
  return builder;
}

TEST(Measure, SamplesNextToAGapMakeUpForWhatIsMissing) {
  HandmadeProfile builder = TwoPhases(2, 1);
  const Profile& profile = builder.profile();
  const KeyedRows keys(profile, EventId{0}, KeyBy::kFunction);
  const Measurement measured = Measure(profile, EventId{0}, keys);
  EXPECT_NEAR(measured.missing_part, 0.25, 1e-9);
  EXPECT_NEAR(measured.ShareOf(measured.self[0]), 0.5, 1e-9);
  EXPECT_NEAR(measured.ShareOf(measured.self[1]), 0, 1e-9);
  EXPECT_NEAR(measured.ShareOf(measured.total[1]), 1, 1e-9);
  EXPECT_EQ(Figures(profile),
            "a 500/1 500000000  500/1 500000000\n"
            "main 0/0 0  750/0 750000000\n"
            "b 250/1 250000000  250/1 250000000\n");
}

TEST(Measure, WhatIsMissingWidensTheInterval) {
  const auto width = [](HandmadeProfile builder) {
    const KeyedRows keys(builder.profile(), EventId{0}, KeyBy::kFunction);
    const Measurement measured = Measure(builder.profile(), EventId{0}, keys);
    return measured.IntervalOf(measured.self[0]).half_width();
  };
  EXPECT_GT(width(TwoPhases(2, 1)), 1.05 * width(TwoPhases(1, 0)));
  EXPECT_GT(width(TwoPhases(2, 100)), 2 * width(TwoPhases(2, 1)));
}

TEST(Measure, OccurrencesOfWhichSomeAreMissingAreNoCount) {
  HandmadeProfile builder;
  builder.InOrder().Sample("app", {"a@app"}, 3, 1).StandingFor(2, 1).Sample("app", {"b@app"}, 3, 1);
  const Profile& profile = builder.profile();
  const KeyedRows keys(profile, EventId{0}, KeyBy::kFunction);
  EXPECT_FALSE(Measure(profile, EventId{0}, keys).is_count);
}

TEST(Measure, SharesOfWhatImpossiblyManyStandForAreSharesAllTheSame) {
  HandmadeProfile builder = TwoPhases(1e18f, 1e18f);
  const KeyedRows keys(builder.profile(), EventId{0}, KeyBy::kFunction);
  const Measurement measured = Measure(builder.profile(), EventId{0}, keys);
  for (const Measured& of : measured.self) {
    const estimate::Interval interval = measured.IntervalOf(of);
    EXPECT_GE(interval.low, 0);
    EXPECT_LE(interval.low, measured.ShareOf(of));
    EXPECT_LE(measured.ShareOf(of), interval.high + 1e-9);
    EXPECT_LE(interval.high, 1);
  }
}

}  // namespace
}  // namespace profiler::analysis
