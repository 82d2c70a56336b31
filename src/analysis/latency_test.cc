#include "src/analysis/latency.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"

namespace profiler::analysis {
namespace {

using profile::Profile;

std::string Rows(const Profile& profile) {
  std::vector<std::string> lines;
  for (const profile::Row& row : profile.rows) {
    lines.push_back(absl::StrCat(std::string(profile.text(profile[row.event].name)), " ",
                                 static_cast<uint32_t>(row.stack), " ", row.count, " ",
                                 row.period));
  }
  return absl::StrJoin(lines, "\n");
}

TEST(LatencyTest, IsTheTimeThatPassesWhileSoManyThreadsRun) {
  profile::HandmadeProfile builder;
  builder.Event("cpu-clock").Parallelism(1).Sample("a", {"serial@app"}, 1, 12);
  builder.Parallelism(3).Sample("a", {"parallel@app"}, 1, 12);
  const auto pairs = AddLatency(builder.profile());
  EXPECT_EQ(Rows(builder.profile()),
            "cpu-clock 0 1 12\n"
            "cpu-clock 1 1 12\n"
            "latency 0 0 12\n"
            "latency 1 0 4");
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(static_cast<uint32_t>(pairs[0].first), 1u);
  EXPECT_EQ(static_cast<uint32_t>(pairs[0].second), 0u);
  EXPECT_EQ(builder.profile()[pairs[0].first].period, 16u);
  EXPECT_EQ(builder.profile()[pairs[0].first].samples, 2u);
}

TEST(LatencyTest, OfWaitingIsOnlyTheTimeInWhichNoThreadRan) {
  profile::HandmadeProfile builder;
  builder.Event("offcpu-time").Parallelism(profile::kNoneRan).Sample("a", {"read@app"}, 1, 5);
  builder.Parallelism(profile::kOthersRan).Sample("a", {"read@app"}, 1, 7);
  AddLatency(builder.profile());
  EXPECT_EQ(Rows(builder.profile()),
            "offcpu-time 0 1 5\n"
            "offcpu-time 0 1 7\n"
            "latency 0 0 5\n"
            "latency 0 0 0");
}

TEST(LatencyTest, HasNoEventForOneWithoutSamples) {
  profile::HandmadeProfile builder;
  builder.Event("page-faults");
  EXPECT_TRUE(AddLatency(builder.profile()).empty());
}

}  // namespace
}  // namespace profiler::analysis
