#include "src/cli/live/top_text.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "src/profile/testing/handmade_profile.h"

namespace profiler::cli {
namespace {

using profile::HandmadeProfile;
using std::chrono::seconds;

live::Snapshot SnapshotOf(HandmadeProfile& handmade) {
  live::MergedProfile merged;
  merged.Add(handmade.profile());
  live::Snapshot snapshot{.length = seconds(2), .windows = 2};
  snapshot.profile = std::move(merged).Take();
  return snapshot;
}

TopView ViewOf(live::Snapshot snapshot, const TopPlan& plan) {
  return {.profile = std::make_shared<const profile::Profile>(
              PrepareTop(std::move(snapshot.profile), plan, false, false)),
          .left_out = snapshot.left_out,
          .length = snapshot.length,
          .shortened = snapshot.shortened};
}

TopPlan PlanOf() {
  TopPlan plan;
  plan.range = seconds(10);
  plan.live.recording.targets.pids = {17};
  plan.report.load.plan.keeps_filtered = true;
  return plan;
}

// The first second of 1970, so that no other part of the text depends on the time.
const std::chrono::system_clock::time_point kNow{};

std::string WithoutTime(std::string heading) {
  constexpr size_t kTime = 10;  // "# 01:02:03"
  return heading.substr(kTime);
}

TEST(TopText, TheHeadingHasSamplesTimeRateTargetsAndLosses) {
  HandmadeProfile handmade;
  handmade.Sample("worker", {"main@app", "parse@app"}, 3);
  live::Snapshot snapshot = SnapshotOf(handmade);
  snapshot.profile.losses.lost_samples = 5;
  const TopPlan plan = PlanOf();
  const TopView view = ViewOf(std::move(snapshot), plan);
  EXPECT_EQ(WithoutTime(TopHeading(view, plan, FactsOf(plan), kNow)),
            ", the last 10 s: 3 samples in 2.0 s at 999 Hz, process 17; lost 5\n"
            "# 5 samples lost\n");
}

TEST(TopText, TheHeadingSaysWhatTheTableLacks) {
  HandmadeProfile handmade;
  handmade.Sample("worker", {"main@app", "parse@app"}, 6);
  live::Snapshot snapshot = SnapshotOf(handmade);
  snapshot.left_out = {.own = 1, .idle = 3};
  snapshot.shortened = 0.25;
  const TopPlan plan = PlanOf();
  const TopView view = ViewOf(std::move(snapshot), plan);
  EXPECT_EQ(WithoutTime(TopHeading(view, plan, FactsOf(plan), kNow)),
            ", the last 10 s: 6 samples in 2.0 s at 999 Hz, process 17; lost 0\n"
            "# 30.00 % of the samples are hidden: idle CPUs; 10.00 % of the samples are hidden: "
            "profiler itself; "
            "25.00 % of the weight has lost its callers\n");
}

TEST(TopText, HidesKernelOrUserCode) {
  HandmadeProfile handmade;
  handmade.Sample("worker", {"main@app", "parse@app"}, 6);
  handmade.Sample("worker", {"main@app", "sys_read@[kernel.kallsyms]"}, 2);
  const TopPlan plan = PlanOf();
  EXPECT_EQ(PrepareTop(SnapshotOf(handmade).profile, plan, true, false).rows.size(), 1);
  EXPECT_EQ(PrepareTop(SnapshotOf(handmade).profile, plan, false, true).rows[0].count, 2);
}

TEST(TopText, TheDocumentIsOneLine) {
  HandmadeProfile handmade;
  handmade.Sample("worker", {"main@app", "parse@app"}, 3);
  const TopPlan plan = PlanOf();
  const TopView view = ViewOf(SnapshotOf(handmade), plan);
  const std::string line = TopDocument(view, plan, kNow);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(line.find(R"({"format":"profiler","version":1,"view":"top",)"), 0) << line;
  EXPECT_NE(line.find(R"("range":10.0,"decay":0.0,"left_out":{"idle":0,"own":0})"), line.npos)
      << line;
}

TEST(TopText, RangesAreTimesUpToAMinuteOrAll) {
  EXPECT_EQ(ParseShown("2s")->range, live::Range(seconds(2)));
  EXPECT_EQ(ParseShown("1m")->range, live::Range(seconds(60)));
  EXPECT_EQ(ParseShown("all")->range, live::Range());
  EXPECT_FALSE(ParseShown("1m")->decays);
  EXPECT_TRUE(ParseShown("decay")->decays);
  EXPECT_FALSE(ParseShown("2m").ok());
  EXPECT_FALSE(ParseShown("soon").ok());
}

}  // namespace
}  // namespace profiler::cli
