#include "src/live/merged_profile.h"

#include <gtest/gtest.h>

#include "src/profile/testing/handmade_profile.h"
#include "src/profile/testing/profile_text.h"

namespace profiler::live {
namespace {

using profile::HandmadeProfile;
using profile::RowsText;

TEST(MergedProfile, AddsUpSamplesOfEqualStacks) {
  HandmadeProfile first, second;
  first.Sample("worker", {"main@app", "parse@app"}, 3, 10);
  first.Sample("worker", {"main@app", "write@libc.so.6"}, 1, 10);
  // Other functions come first, so the same functions have other numbers here.
  second.Sample("other", {"start@tool", "write@libc.so.6"}, 2, 10);
  second.Sample("worker", {"main@app", "parse@app"}, 4, 10);
  MergedProfile merged;
  merged.Add(first.profile());
  merged.Add(second.profile());
  const std::string text = RowsText(merged.profile());
  EXPECT_NE(text.find("main;parse  3 30 cpu 0\n"), text.npos) << text;
  EXPECT_NE(text.find("start;write  2 20 cpu 0\n"), text.npos) << text;
  EXPECT_EQ(merged.profile().events.size(), 1);
  EXPECT_EQ(merged.profile().events[0].samples, 10);
  EXPECT_EQ(merged.profile().events[0].period, 100);
}

TEST(MergedProfile, AProfileAddedTwiceHasTwiceTheWeightAndNoNewTables) {
  HandmadeProfile once;
  once.Sample("worker", {"main@app", "inner<outer@app", "0x1234@lib.so"}, 3, 10);
  once.Sample("worker", {"[cut: stack too short]", "parse@app"}, 2, 10);
  MergedProfile merged;
  merged.Add(once.profile());
  const size_t stacks = merged.profile().stacks.size();
  const size_t frames = merged.profile().frames.size();
  const size_t symbols = merged.profile().symbols.size();
  merged.Add(once.profile());
  EXPECT_EQ(merged.profile().stacks.size(), stacks);
  EXPECT_EQ(merged.profile().frames.size(), frames);
  EXPECT_EQ(merged.profile().symbols.size(), symbols);
  HandmadeProfile twice;
  twice.Sample("worker", {"main@app", "inner<outer@app", "0x1234@lib.so"}, 6, 10);
  twice.Sample("worker", {"[cut: stack too short]", "parse@app"}, 4, 10);
  EXPECT_EQ(RowsText(merged.profile()), RowsText(twice.profile()));
}

TEST(MergedProfile, CopiesOnlyTablesOfItsRows) {
  HandmadeProfile all;
  all.Sample("worker", {"main@app", "parse@app"}, 3, 10);
  all.Sample("other", {"start@tool", "run@tool"}, 1, 10);
  const MergedRow row{.row = all.profile().rows[0]};
  MergedProfile merged;
  merged.Add(all.profile(), {&row, 1});
  EXPECT_EQ(merged.profile().threads.size(), 1);
  EXPECT_EQ(merged.profile().stacks.size(), 2);
  EXPECT_EQ(merged.profile().images.size(), 1);
}

TEST(MergedProfile, KeepsThreadsOfOneNameApart) {
  HandmadeProfile all;
  all.Thread(7, 8).Sample("worker", {"main@app"}, 3, 10);
  all.Thread(7, 9).Sample("worker", {"main@app"}, 1, 10);
  MergedProfile merged;
  merged.Add(all.profile());
  EXPECT_EQ(RowsText(merged.profile()), RowsText(all.profile()));
}

TEST(MergedProfile, AddsUpLosses) {
  HandmadeProfile one;
  one.Sample("worker", {"main@app"});
  profile::Profile lossy = std::move(MergedProfile()).Take();
  lossy.losses.lost_samples = 5;
  lossy.losses.throttled = 1;
  MergedProfile merged;
  merged.Add(lossy);
  merged.Add(lossy);
  EXPECT_EQ(merged.profile().losses.lost_samples, 10);
  EXPECT_EQ(merged.profile().losses.throttled, 2);
}

TEST(MergedProfile, AShortenedProfileKeepsAllWeightAndMarksMissingCallers) {
  HandmadeProfile all;
  all.Sample("worker", {"main@app", "a@app", "b@app"}, 90, 1);
  all.Sample("worker", {"main@app", "a@app", "c@app"}, 6, 1);
  all.Sample("worker", {"main@app", "d@app", "c@app"}, 4, 1);
  double shortened = 0;
  constexpr size_t kRoomForOne = 120;
  const profile::Profile less = Shortened(all.profile(), kRoomForOne, &shortened);
  EXPECT_DOUBLE_EQ(shortened, 0.1);
  HandmadeProfile expected;
  expected.Sample("worker", {"main@app", "a@app", "b@app"}, 90, 1);
  expected.Sample("worker", {"[cut: callers not kept]", "c@app"}, 10, 1);
  EXPECT_EQ(RowsText(less), RowsText(expected.profile()));
}

}  // namespace
}  // namespace profiler::live
