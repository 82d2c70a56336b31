#include "gtest/gtest.h"
#include "src/analysis/event_choice.h"
#include "src/analysis/filter.h"
#include "src/analysis/unmatched_filter.h"
#include "src/profile/testing/handmade_profile.h"

namespace profiler::analysis {
namespace {

using profile::EventId;
using profile::HandmadeProfile;
using profile::Profile;

// Returns the remaining rows: "worker read@libc.so.6 1, …".
std::string Rows(const Profile& profile) {
  std::string text;
  for (const profile::Row& row : profile.rows) {
    const profile::Frame& self = profile[row.self];
    if (!text.empty()) text += ", ";
    text += profile.text(profile[row.thread].comm);
    text += ' ';
    text += profile.text(profile[profile.LinesOf(self).back().symbol].name);
    text += '@';
    text += profile.text(profile[self.image].name);
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

  HandmadeProfile builder_;
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
  HandmadeProfile ordered;
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

TEST_F(FilterTest, TakesEachFunctionThatIsInlinedAtTheInterruptedInstruction) {
  const auto inlined = [] {
    HandmadeProfile b;
    b.Sample("app", {"main@app", "mix<step<hot@app"}, 1).Sample("app", {"hot@app"}, 2);
    b.Sample("app", {"mix<caller@app", "leaf@app"}, 4).Sample("app", {"mix@app"}, 8);
    return std::move(b.profile());
  };
  const auto kept = [&](const std::string& symbol) {
    Profile profile = inlined();
    KeepOnly({.symbols = {symbol}}, profile);
    return Rows(profile);
  };
  EXPECT_EQ(kept("mix"), "app hot@app 1, app mix@app 8");
  EXPECT_EQ(kept("step"), "app hot@app 1");
  EXPECT_EQ(kept("hot"), "app hot@app 1, app hot@app 2");
  EXPECT_EQ(WhyNothingPasses(inlined(), {.symbols = {"mux"}}),
            "none of 15 samples has symbol 'mux'; there are: mix, leaf, hot, step");
}

TEST_F(FilterTest, KeepsWhatAllListsName) {
  EXPECT_EQ(Kept({.images = {"app", "libc.so.6"}, .tids = {2}}), "worker read@libc.so.6 1");
}

TEST_F(FilterTest, AListThatNoSampleMatchesIsNamedWithWhatThereIs) {
  const Profile& profile = builder_.profile();
  EXPECT_EQ(WhyNothingPasses(profile, {.comms = {"ngnix"}}),
            "none of 6 samples has command 'ngnix'; there are: shell, worker");
  EXPECT_EQ(WhyNothingPasses(profile, {.images = {"app", "libz.so"}, .symbols = {"reed"}}),
            "none of 6 samples has symbol 'reed'; there are: main, read");
  EXPECT_EQ(WhyNothingPasses(profile, {.pids = {7, 8}}),
            "none of 6 samples has process 7 or 8; there are: 1, 4");
  EXPECT_EQ(WhyNothingPasses(profile, {.images = {"lib"}}),
            "none of 6 samples has image 'lib'; there are: sh, app, libc.so.6");
}

TEST_F(FilterTest, ListsThatNoSampleMatchesTogetherAreNamedTogether) {
  EXPECT_EQ(WhyNothingPasses(builder_.profile(), {.comms = {"shell"}, .tids = {2}}),
            "none of 6 samples has command 'shell' and thread 2 at once");
}

TEST_F(FilterTest, OnlyTheHeaviestValuesOfManyAreListed) {
  HandmadeProfile many;
  for (int i = 0; i < 12; ++i) many.Sample("c" + std::to_string(i), {"f@x"}, i + 1);
  EXPECT_EQ(WhyNothingPasses(many.profile(), {.comms = {"d"}}),
            "none of 78 samples has command 'd'; there are: c11, c10, c9, c8, c7, c6, c5, c4 and 4 "
            "more");
}

TEST_F(FilterTest, AFilterThatASamplePassesNeedsNoWords) {
  EXPECT_EQ(WhyNothingPasses(builder_.profile(), {.comms = {"shell", "ngnix"}}), std::nullopt);
  EXPECT_EQ(WhyNothingPasses(builder_.profile(), {}), std::nullopt);
  EXPECT_EQ(WhyNothingPasses(Profile(), {.comms = {"shell"}}), std::nullopt);
}

TEST(EventChoiceTest, TakesTheFirstEventThatHasSamples) {
  HandmadeProfile builder;
  builder.Event("cycles").Event("faults").Sample("a", {"f@x"});
  EXPECT_EQ(*ChooseEvent(builder.profile(), ""), EventId{2});
}

TEST(EventChoiceTest, TakesTheEventOfTheName) {
  HandmadeProfile builder;
  builder.Event("cycles").Sample("a", {"f@x"}).Event("faults").Sample("a", {"f@x"});
  EXPECT_EQ(*ChooseEvent(builder.profile(), "faults"), EventId{2});
}

TEST(EventChoiceTest, ListsTheEventsWhereNoneHasTheName) {
  HandmadeProfile builder;
  builder.Event("cycles").Event("faults");
  EXPECT_EQ(ChooseEvent(builder.profile(), "page").status().message(),
            "--event: the recording has no 'page', but cpu-clock, cycles, faults");
}

TEST(EventChoiceTest, OfSeveralEventsOfOneNameTakesTheFirstThatHasSamplesOrTheNumberedOne) {
  HandmadeProfile builder;
  builder.Event("cycles").Event("faults").Event("others").Sample("a", {"f@x"});
  builder.profile().events[3].name = builder.profile().events[1].name;
  EXPECT_EQ(*ChooseEvent(builder.profile(), "cycles"), EventId{3});
  EXPECT_EQ(*ChooseEvent(builder.profile(), "cycles#1"), EventId{1});
  EXPECT_EQ(*ChooseEvent(builder.profile(), "cycles#2"), EventId{3});
  EXPECT_EQ(ChooseEvent(builder.profile(), "cycles#3").status().message(),
            "--event: the recording has no 'cycles#3', but cpu-clock, cycles#1, faults, cycles#2");
}

TEST(EventChoiceTest, AllEventsOfANameAreReached) {
  HandmadeProfile builder;
  builder.Event("cycles").Event("faults").Event("others");
  builder.profile().events[3].name = builder.profile().events[1].name;
  EXPECT_EQ(*EventsNamed(builder.profile(), "cycles"), (std::vector{EventId{1}, EventId{3}}));
  EXPECT_EQ(*EventsNamed(builder.profile(), "cycles#2"), std::vector{EventId{3}});
}

TEST(EventChoiceTest, TakesNoneOfARecordingWithoutSamples) {
  HandmadeProfile builder;
  builder.Event("cycles");
  EXPECT_EQ(*ChooseEvent(builder.profile(), ""), std::nullopt);
}

}  // namespace
}  // namespace profiler::analysis
