#include "src/live/history.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/profile/testing/handmade_profile.h"
#include "src/profile/testing/profile_text.h"

namespace profiler::live {
namespace {

using profile::HandmadeProfile;
using std::chrono::seconds;

// Returns the window of second `at` with one sample of `function`.
Window WindowOf(uint64_t at, const std::string& function) {
  HandmadeProfile handmade;
  handmade.Sample("worker", {"main@app", function + "@app"}, 1, 10);
  MergedProfile merged;
  merged.Add(handmade.profile());
  constexpr uint64_t kSecond = 1'000'000'000;
  return {.begin = at * kSecond,
          .end = (at + 1) * kSecond,
          .profile = std::move(merged).Take(),
          .left_out = {.own = 2, .idle = 3},
          .busy = 10};
}

std::string RowsOf(const Snapshot& snapshot) { return profile::RowsText(snapshot.profile); }

TEST(History, SumsUpTheLatestWindows) {
  History history;
  history.Add(WindowOf(1, "old"));
  history.Add(WindowOf(2, "new"));
  history.Add(WindowOf(3, "new"));
  const Snapshot latest = history.Get(seconds(2));
  HandmadeProfile expected;
  expected.Sample("worker", {"main@app", "new@app"}, 2, 10);
  EXPECT_EQ(RowsOf(latest), profile::RowsText(expected.profile()));
  EXPECT_EQ(latest.length, seconds(2));
  EXPECT_EQ(latest.left_out.own, 4);
  EXPECT_EQ(latest.left_out.idle, 6);
}

TEST(History, LetsOlderSamplesCountLess) {
  History history;
  for (uint64_t at = 1; at <= 16; ++at) history.Add(WindowOf(at, at <= 8 ? "old" : "new"));
  const Snapshot decaying = history.Get(seconds(60), seconds(1));
  ASSERT_EQ(decaying.profile.rows.size(), 2);
  // Sums of (7/8)^age, times the period of 10: a sample alone would often be rounded away.
  EXPECT_EQ(decaying.profile.rows[0].period, 18);
  EXPECT_EQ(decaying.profile.rows[1].period, 53);
  EXPECT_EQ(decaying.profile.rows[0].count, 2);
  EXPECT_EQ(decaying.profile.rows[1].count, 5);
  EXPECT_EQ(decaying.profile.events[0].samples, 7);
  EXPECT_EQ(decaying.left_out.idle, 21);
  EXPECT_EQ(history.Get(seconds(60)).left_out.idle, 48);
}

TEST(History, JoinsOldShortWindowsToSeconds) {
  History joins, keeps({.fine = seconds(3600)});
  constexpr uint64_t kTenth = 100'000'000;
  for (uint64_t at = 100; at < 200; ++at) {
    for (History* const history : {&joins, &keeps}) {
      Window window = WindowOf(0, absl::StrCat("f", at % 3));
      window.begin = at * kTenth;
      window.end = window.begin + kTenth;
      history->Add(std::move(window));
    }
  }
  const auto text = [](const Snapshot& snapshot) {
    return absl::StrCat(snapshot.windows, " windows of ", snapshot.length.count() / 1'000'000,
                        " ms, left out ", snapshot.left_out.idle, "\n", RowsOf(snapshot));
  };
  for (const auto range : {seconds(2), seconds(5), seconds(60)}) {
    EXPECT_EQ(text(joins.Get(range)), text(keeps.Get(range)));
  }
  EXPECT_EQ(joins.Get(std::chrono::milliseconds(4500)).length, seconds(4));
  const auto decaying = [](const History& history) {
    return history.Get(seconds(60), std::chrono::milliseconds(500)).profile.events[0].period;
  };
  EXPECT_NEAR(decaying(joins), decaying(keeps), 1);
  EXPECT_EQ(joins.uses().size(), 100);
}

TEST(History, WithoutARangeSumsUpAllWindowsEvenDroppedOnes) {
  History history({.kept = seconds(2)});
  for (uint64_t at = 1; at <= 5; ++at) history.Add(WindowOf(at, "f"));
  EXPECT_EQ(history.Get(std::nullopt).profile.events[0].samples, 5);
  EXPECT_EQ(history.Get(std::nullopt).length, seconds(5));
  EXPECT_EQ(history.Get(seconds(60)).length, seconds(2));
}

TEST(History, DropsTheOldestWindowsIfTheyTakeTooMuchMemory) {
  const size_t one = MemoryOf(WindowOf(1, "f").profile);
  History history({.most_window_bytes = 3 * one});
  for (uint64_t at = 1; at <= 10; ++at) history.Add(WindowOf(at, "f"));
  EXPECT_EQ(history.Get(seconds(60)).length, seconds(3));
  EXPECT_EQ(history.uses().size(), 10);
}

TEST(History, BoundsTheSumByDroppingCallersOfRareStacks) {
  constexpr size_t kLimit = 8'000;
  History history({.most_sum_bytes = kLimit});
  for (uint64_t at = 1; at <= 60; ++at) history.Add(WindowOf(at, absl::StrCat("f", at % 20)));
  const Snapshot all = history.Get(std::nullopt);
  EXPECT_EQ(all.profile.events[0].samples, 60);
  EXPECT_GT(all.shortened, 0);
  EXPECT_NE(RowsOf(all).find("[cut: callers not kept]"), std::string::npos);
}

TEST(History, ForgetsEverythingWhenCleared) {
  History history;
  history.Add(WindowOf(1, "old"));
  history.Clear();
  EXPECT_EQ(history.Get(std::nullopt).windows, 0);
  history.Add(WindowOf(2, "new"));
  EXPECT_EQ(history.Get(seconds(10)).length, seconds(1));
  EXPECT_EQ(history.uses().size(), 2);  // how busy the machine was stays
}

}  // namespace
}  // namespace profiler::live
