#include "src/analysis/wall_clock.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"

namespace profiler::analysis {
namespace {

using profile::HandmadeProfile;
using profile::Profile;

// Returns the rows with their periods: "EVENT main<read 3".
std::string Rows(const Profile& profile) {
  std::vector<std::string> lines;
  for (const profile::Row& row : profile.rows) {
    std::string stack;
    for (profile::StackId at = row.stack; at != profile::kNoStack; at = profile[at].parent) {
      const profile::Frame& frame = profile[profile[at].frame];
      const std::string name(profile.text(profile[profile.LinesOf(frame).back().symbol].name));
      stack = stack.empty() ? name : absl::StrCat(name, "<", stack);
    }
    lines.push_back(absl::StrCat(std::string(profile.text(profile[row.event].name)), " ", stack,
                                 " ", row.period));
  }
  return absl::StrJoin(lines, "\n");
}

class WallClockTest : public testing::Test {
 protected:
  WallClockTest() {
    builder_.Event("oncpu-time").Sample("a", {"main@app", "work@app"}, 1, 10);
    builder_.Event("page-faults").Sample("a", {"main@app"}, 1, 7);
    builder_.Event("offcpu-time").Sample("a", {"main@app", "read@libc"}, 1, 20);
    builder_.Sample("b", {"main@app", "read@libc"}, 1, 25);
    builder_.Event("preempted-time").Sample("a", {"main@app", "work@app"}, 1, 30);
  }
  Profile& profile() { return builder_.profile(); }

  HandmadeProfile builder_;
};

TEST_F(WallClockTest, IsAllTimesOnAndOffTheCpu) {
  JoinWallClock(OffCpuLeaf::kNone, profile());
  EXPECT_EQ(Rows(profile()),
            "wall-clock main<work 10\n"
            "page-faults main 7\n"
            "wall-clock main<read 20\n"
            "wall-clock main<read 25\n"
            "wall-clock main<work 30");
  EXPECT_EQ(profile().events[1].samples, 4u);
  EXPECT_EQ(profile().events[1].period, 85u);
  EXPECT_EQ(profile().events[3].samples, 0u);
}

TEST_F(WallClockTest, SaysByALeafWhatThreadsDidThatDidNotRun) {
  JoinWallClock(OffCpuLeaf::kOfState, profile());
  EXPECT_EQ(Rows(profile()),
            "wall-clock main<work 10\n"
            "page-faults main 7\n"
            "wall-clock main<read<[blocked] 20\n"
            "wall-clock main<read<[blocked] 25\n"
            "wall-clock main<work<[preempted] 30");
  // Equal stacks stay equal.
  EXPECT_EQ(profile().rows[2].stack, profile().rows[3].stack);
  EXPECT_EQ(profile()[profile().rows[4].stack].depth, 3u);
}

TEST_F(WallClockTest, IsMadeOfUserCodeAloneWhereTheKernelMayNotBeSampled) {
  HandmadeProfile builder;
  builder.Event("oncpu-time:u").Sample("a", {"main@app"}, 1, 10);
  builder.Event("offcpu-time").Sample("a", {"main@app"}, 1, 20);
  JoinWallClock(OffCpuLeaf::kNone, builder.profile());
  EXPECT_EQ(Rows(builder.profile()), "wall-clock main 10\nwall-clock main 20");
}

TEST_F(WallClockTest, IsNotMadeOfTimesOffTheCpuAlone) {
  HandmadeProfile builder;
  builder.Event("cpu-clock").Sample("a", {"main@app"}, 1, 10);
  builder.Event("offcpu-time").Sample("a", {"main@app"}, 1, 20);
  EXPECT_FALSE(HasWallClock(builder.profile()));
  JoinWallClock(OffCpuLeaf::kOfState, builder.profile());
  EXPECT_EQ(Rows(builder.profile()), "cpu-clock main 10\noffcpu-time main 20");
}

TEST_F(WallClockTest, IsWhatAViewOfOneEventShowsUnlessAnotherIsNamed) {
  EXPECT_EQ(WallClockFor("oncpu-time"), std::nullopt);
  EXPECT_EQ(WallClockFor("wall-clock"), OffCpuLeaf::kOfState);
  EXPECT_EQ(WallClockFor(""), OffCpuLeaf::kOfState);
}

}  // namespace
}  // namespace profiler::analysis
