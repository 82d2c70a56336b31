#include "src/live/running_sum.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/analysis/filter.h"
#include "src/profile/testing/handmade_profile.h"
#include "src/profile/testing/profile_text.h"

namespace profiler::live {
namespace {

using profile::HandmadeProfile;
using profile::Profile;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Returns tenth `at` of a second, with two samples.
Window WindowOf(uint64_t at) {
  HandmadeProfile handmade;
  handmade.Sample("worker", {"main@app", absl::StrCat("f", at % 7) + "@app"}, 1, 10);
  handmade.Sample("other", {"main@app", "[cut: no reason]"}, at % 3 + 1, 20);
  if (at % 40 < 10) handmade.Sample("other", {"main@app", "[cut: rare reason]"}, at % 4 + 1, 20);
  handmade.profile().losses.lost_samples = at % 2;
  MergedProfile merged;
  merged.Add(handmade.profile());
  constexpr uint64_t kTenth = 100'000'000;
  return {.begin = at * kTenth,
          .end = (at + 1) * kTenth,
          .profile = std::move(merged).Take(),
          .left_out = {.own = at % 5, .idle = 3}};
}

// Returns all that a view shows of a profile. Rows without samples are left out.
std::string TextOf(const Profile& profile) {
  MergedProfile merged;
  merged.Add(profile);
  Profile copy = std::move(merged).Take();
  analysis::KeepRows([](const profile::Row& row) { return row.count != 0; }, copy);
  std::string text = profile::RowsText(copy);
  for (const profile::Event& event : profile.events) {
    absl::StrAppend(&text, "event ", event.samples, " ", event.period, "\n");
  }
  absl::StrAppend(&text, "lost ", profile.losses.lost_samples, ", chains ", profile.chains.chains(),
                  ", cut ", profile.chains.cut(), "\n");
  return text;
}

void ExpectEqual(const RunningSum& sum, const Snapshot& expected, uint64_t at) {
  EXPECT_EQ(TextOf(*sum.profile()), TextOf(expected.profile)) << at;
  EXPECT_EQ(sum.profile()->chains.cuts, expected.profile.chains.cuts) << at;
  EXPECT_EQ(sum.left_out().own, expected.left_out.own) << at;
  EXPECT_EQ(sum.left_out().idle, expected.left_out.idle) << at;
  EXPECT_EQ(sum.length(), expected.length) << at;
}

TEST(RunningSum, EqualsTheSumOfTheWindowsAtEachRefresh) {
  for (const Range range : {Range(milliseconds(500)), Range(seconds(5)), Range()}) {
    History history;
    RunningSum sum(history, {.range = range});
    size_t updates = 0;
    for (uint64_t at = 100; at < 250; ++at) {
      history.Add(WindowOf(at));
      const auto before = sum.profile();
      if (const auto changes = sum.Refresh()) {
        ++updates;
        EXPECT_EQ(before, sum.profile());
        EXPECT_FALSE(changes->empty());
      }
      ExpectEqual(sum, history.Get(range), at);
    }
    EXPECT_EQ(updates, 149);
    EXPECT_TRUE(sum.Refresh()->empty());
  }
}

TEST(RunningSum, ReturnsTheChangesOfTheRows) {
  History history;
  RunningSum sum(history, {.range = seconds(1)});
  std::vector<uint64_t> counts;
  for (uint64_t at = 100; at < 150; ++at) {
    history.Add(WindowOf(at));
    const auto changes = sum.Refresh();
    counts.resize(sum.profile()->rows.size());
    if (!changes) {
      for (size_t row = 0; row < counts.size(); ++row) counts[row] = sum.profile()->rows[row].count;
      continue;
    }
    for (const profile::RowChange& change : *changes) counts[change.row] += change.count;
    for (size_t row = 0; row < counts.size(); ++row) {
      EXPECT_EQ(counts[row], sum.profile()->rows[row].count) << at;
    }
  }
}

TEST(RunningSum, IsMadeAgainAfterTheHistoryWasCleared) {
  for (const Range range : {Range(seconds(5)), Range()}) {
    History history;
    RunningSum sum(history, {.range = range});
    history.Add(WindowOf(1));
    sum.Refresh();
    history.Clear();
    sum.Refresh();
    ExpectEqual(sum, history.Get(range), 1);
    history.Add(WindowOf(2));
    sum.Refresh();
    ExpectEqual(sum, history.Get(range), 2);
    history.Clear();
    history.Add(WindowOf(3));
    sum.Refresh();
    ExpectEqual(sum, history.Get(range), 3);
  }
}

TEST(RunningSum, IsMadeAgainWhenItMissedWindowsThatWereJoined) {
  History history;
  RunningSum sum(history, {.range = seconds(60)});
  for (uint64_t at = 100; at < 200; ++at) {
    history.Add(WindowOf(at));
    if (at % 25 == 7) sum.Refresh();
  }
  sum.Refresh();
  ExpectEqual(sum, history.Get(seconds(60)), 0);
}

TEST(RunningSum, IsMadeAgainWhenItsTablesHaveGrown) {
  History history;
  RunningSum sum(history, {.range = milliseconds(100), .most_new_rows = 3});
  size_t made = 0;
  for (uint64_t at = 100; at < 150; ++at) {
    history.Add(WindowOf(at));
    made += sum.Refresh() ? 0 : 1;
    EXPECT_LE(sum.profile()->rows.size(), 8);
    ExpectEqual(sum, history.Get(milliseconds(100)), at);
  }
  EXPECT_GT(made, 5);
}

TEST(RunningSum, PreparesEachWindow) {
  const auto prepare = [](Profile profile) {
    analysis::KeepRows([](const profile::Row& row) { return row.count == 1; }, profile);
    return profile;
  };
  History history;
  RunningSum sum(history, {.range = seconds(1), .prepare = prepare});
  for (uint64_t at = 100; at < 130; ++at) {
    history.Add(WindowOf(at));
    sum.Refresh();
  }
  uint64_t rows = 0;
  for (const profile::Row& row : sum.profile()->rows) rows += row.count;
  EXPECT_EQ(rows, 17);  // ten of the worker, and seven of the other with a single sample
  EXPECT_EQ(sum.profile()->events[0].samples, history.Get(seconds(1)).profile.events[0].samples);
}

}  // namespace
}  // namespace profiler::live
