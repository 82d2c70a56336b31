#include "gtest/gtest.h"
#include "src/query/event_choice.h"
#include "src/query/filter.h"
#include "src/report/testing/profile_builder.h"

namespace profiler::query {
namespace {

using profile::EventId;
using profile::Profile;
using report::ProfileBuilder;

// "worker read@libc.so.6 1, …": the rows that are left.
std::string Rows(const Profile& profile) {
  std::string text;
  for (const profile::Row& row : profile.rows) {
    const profile::Frame& self = profile[row.self];
    if (!text.empty()) text += ", ";
    text += profile.text(profile[row.thread].comm);
    text += ' ';
    text += profile.text(profile[profile.LinesOf(self).back().symbol].name);
    text += '@';
    text += profile.text(profile[self.dso].name);
    text += ' ' + std::to_string(row.count);
  }
  return text;
}

class FilterTest : public testing::Test {
 protected:
  FilterTest() {
    builder_.Thread(1, 2).Sample("worker", {"main@app", "read@libc.so.6"}, 1);
    builder_.Thread(1, 3).Sample("worker", {"main@app"}, 2);
    builder_.Thread(4, 4).Sample("shell", {"main@sh"}, 3);
  }

  std::string Kept(const Filter& filter) {
    Profile profile = std::move(builder_.profile());
    KeepOnly(filter, profile);
    return Rows(profile);
  }

  ProfileBuilder builder_;
};

TEST_F(FilterTest, WithoutListsKeepsEverything) {
  EXPECT_EQ(Kept({}), "worker read@libc.so.6 1, worker main@app 2, shell main@sh 3");
}

TEST_F(FilterTest, KeepsThreadsByNameAndNumber) {
  EXPECT_EQ(Kept({.comms = {"shell"}}), "shell main@sh 3");
}

TEST_F(FilterTest, KeepsProcesses) {
  EXPECT_EQ(Kept({.pids = {1}}), "worker read@libc.so.6 1, worker main@app 2");
}

TEST_F(FilterTest, TheOrderIsOfTheRowsThatAreKept) {
  ProfileBuilder ordered;
  ordered.InOrder().Sample("worker", {"main@app"}).Sample("shell", {"main@sh"}, 2);
  ordered.Sample("worker", {"main@app"});
  Profile profile = std::move(ordered.profile());
  KeepOnly({.comms = {"shell"}}, profile);
  ASSERT_EQ(profile.order.size(), 2u);
  EXPECT_EQ(profile.order[0].row, 0u);
  EXPECT_EQ(profile.order[1].row, 0u);
}

TEST_F(FilterTest, TakesTheInterruptedFunctionAndNotItsCallers) {
  EXPECT_EQ(Kept({.symbols = {"main"}}), "worker main@app 2, shell main@sh 3");
}

TEST_F(FilterTest, KeepsWhatAllListsName) {
  EXPECT_EQ(Kept({.dsos = {"app", "libc.so.6"}, .tids = {2}}), "worker read@libc.so.6 1");
}

TEST(EventChoiceTest, TakesTheFirstEventThatHasSamples) {
  ProfileBuilder builder;
  builder.Event("cycles").Event("faults").Sample("a", {"f@x"});
  EXPECT_EQ(*ChooseEvent(builder.profile(), ""), EventId{2});
}

TEST(EventChoiceTest, TakesTheEventOfTheName) {
  ProfileBuilder builder;
  builder.Event("cycles").Sample("a", {"f@x"}).Event("faults").Sample("a", {"f@x"});
  EXPECT_EQ(*ChooseEvent(builder.profile(), "faults"), EventId{2});
}

TEST(EventChoiceTest, ListsTheEventsWhereNoneHasTheName) {
  ProfileBuilder builder;
  builder.Event("cycles").Event("faults");
  EXPECT_EQ(ChooseEvent(builder.profile(), "page").status().message(),
            "--event: the recording has no 'page', but cpu-clock, cycles, faults");
}

TEST(EventChoiceTest, TakesNoneOfARecordingWithoutSamples) {
  ProfileBuilder builder;
  builder.Event("cycles");
  EXPECT_EQ(*ChooseEvent(builder.profile(), ""), std::nullopt);
}

}  // namespace
}  // namespace profiler::query
