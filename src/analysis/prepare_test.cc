#include "src/analysis/prepare.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/profile/testing/handmade_profile.h"

namespace profiler::analysis {
namespace {

using profile::Dimension;
using profile::HandmadeProfile;
using profile::Profile;

// Returns "event comm leaf<caller<… period" of each row.
std::string Rows(const Profile& profile) {
  std::string text;
  for (const profile::Row& row : profile.rows) {
    absl::StrAppend(&text, std::string(profile.text(profile[row.event].name)), " ",
                    std::string(profile.text(profile[row.thread].comm)), " ");
    for (auto node = row.stack; node != profile::kNoStack; node = profile[node].parent) {
      const auto lines = profile.LinesOf(profile[profile[node].frame]);
      absl::StrAppend(
          &text, node == row.stack ? "" : "<",
          lines.empty() ? "?" : std::string(profile.text(profile[lines.back().symbol].name)));
    }
    absl::StrAppend(&text, " ", row.period, "\n");
  }
  return text;
}

PreparedProfile Prepared(HandmadeProfile builder, const Plan& plan) {
  return Prepare(std::move(builder.profile()), plan);
}

HandmadeProfile TwoThreads() {
  HandmadeProfile builder;
  builder.Event("cpu-clock").Sample("app", {"main@app", "f(int)@app", "read@libc"}, 1, 10);
  builder.Sample("worker1", {"main@app", "0x1234@app"}, 1, 20);
  return builder;
}

TEST(PrepareTest, AnEmptyPlanChangesNothing) {
  const PreparedProfile prepared = Prepared(TwoThreads(), {});
  EXPECT_EQ(Rows(prepared.profile), Rows(TwoThreads().profile()));
  EXPECT_EQ(prepared.nothing_passes, std::nullopt);
  EXPECT_TRUE(prepared.latencies.empty());
}

TEST(PrepareTest, FiltersMatchNamesThatAreAlreadyShortened) {
  Plan plan{.names = {.strip_args = true}, .filter = {.symbols = {"f"}}};
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "f(int)@app"}, 1, 10).Sample("app", {"main@app"}, 1, 20);
  EXPECT_EQ(Rows(Prepared(std::move(builder), plan).profile), "cpu-clock app f<main 10\n");
}

TEST(PrepareTest, RowsOfAFilterMayStayButTheReasonIsKnown) {
  Plan plan{.filter = {.comms = {"ngnix"}}, .keeps_filtered = true};
  const PreparedProfile kept = Prepared(TwoThreads(), plan);
  EXPECT_EQ(Rows(kept.profile), Rows(TwoThreads().profile()));
  EXPECT_EQ(kept.nothing_passes, "none of 2 samples has command 'ngnix'; there are: app, worker1");
  plan.keeps_filtered = false;
  const PreparedProfile dropped = Prepared(TwoThreads(), plan);
  EXPECT_EQ(Rows(dropped.profile), "");
  EXPECT_EQ(dropped.nothing_passes, kept.nothing_passes);
}

TEST(PrepareTest, AFilterOfImagesSeesTheCodeBelowAStateOfAThread) {
  HandmadeProfile builder;
  builder.Event("oncpu-time").Sample("a", {"main@app"}, 1, 10);
  builder.Event("offcpu-time").Sample("a", {"main@app", "read@libc"}, 1, 20);
  const Plan plan{.filter = {.images = {"libc"}}, .wall_clock = OffCpuLeaf::kOfState};
  EXPECT_EQ(Rows(Prepared(std::move(builder), plan).profile),
            "wall-clock a [blocked]<read<main 20\n");
}

TEST(PrepareTest, OneEventMayBeKept) {
  const auto rows_of = [](const std::string& event) {
    HandmadeProfile builder;
    builder.Event("cycles").Sample("a", {"main@app"}, 1, 10);
    builder.Event("faults").Sample("a", {"main@app"}, 1, 20);
    return Rows(Prepared(std::move(builder), {.only_event = event}).profile);
  };
  EXPECT_EQ(rows_of("faults"), "faults a main 20\n");
  EXPECT_EQ(rows_of("unknown"), "");
}

TEST(PrepareTest, TheSamplesOfOtherEventsMayBeForgotten) {
  HandmadeProfile builder;
  builder.Event("oncpu-time").Sample("a", {"main@app"}, 1, 10);
  builder.Event("offcpu-time").Sample("a", {"read@libc"}, 1, 20);
  builder.Event("faults").Sample("a", {"main@app"}, 1, 1);
  const Profile profile = Prepared(std::move(builder), {.wall_clock = OffCpuLeaf::kNone,
                                                        .only_event = "wall-clock",
                                                        .forgets_other_events = true})
                              .profile;
  EXPECT_EQ(Rows(profile), "wall-clock a main 10\nwall-clock a read 20\n");
  std::string samples;
  for (const auto& event : profile.events) {
    absl::StrAppend(&samples, View(profile.text(event.name)), " ", event.samples, "\n");
  }
  EXPECT_EQ(samples, "cpu-clock 0\nwall-clock 2\noffcpu-time 0\nfaults 0\n");
}

TEST(PrepareTest, DerivedColumnsDescribeTheStacksThatAreLeft) {
  Plan plan{.hide_unresolved = true, .ignored_callees = *NamePattern::Parse("^f")};
  plan.Derive(Dimension::kParent);
  plan.Derive(Dimension::kCommNoDigit);
  plan.Derive(Dimension::kCpu);  // is read from samples
  plan.sources.parent = *NamePattern::Parse("^(f|read)");
  plan.sources.parent_end = StackEnd::kInnermost;
  const Profile profile = Prepared(TwoThreads(), plan).profile;
  EXPECT_EQ(Rows(profile), "cpu-clock app f(int)<main 10\n");
  EXPECT_EQ(profile.text(StringId{profile.column(Dimension::kParent)[0]}), "f(int)");
  EXPECT_EQ(profile.text(StringId{profile.column(Dimension::kCommNoDigit)[0]}), "app");
}

TEST(PrepareTest, LatenciesAreAddedIfThreadsRanInParallel) {
  HandmadeProfile alone, parallel;
  alone.Parallelism(1).Sample("app", {"f@app"}, 1, 30);
  parallel.Parallelism(2).Sample("app", {"f@app"}, 1, 30);
  const Plan plan{.latencies = LatencyEvents::kIfParallel};
  EXPECT_TRUE(Prepared(std::move(alone), plan).latencies.empty());
  const PreparedProfile prepared = Prepared(std::move(parallel), plan);
  EXPECT_EQ(prepared.latencies.size(), 1u);
  EXPECT_EQ(Rows(prepared.profile), "cpu-clock app f 30\nlatency app f 15\n");
}

TEST(PrepareTest, TextsOfTracepointsAreNamedBeforeTheyAreSplit) {
  HandmadeProfile builder;
  builder.Sample("app", {"f@app"}, 1, 30);
  Profile& profile = builder.profile();
  profile.column(Dimension::kTrace) = {0};
  Plan plan{.name_traces =
                [](Profile& named) {
                  const std::string parts = std::string("text") + '\0' + "7" + '\0';
                  named.column(Dimension::kTrace)[0] =
                      static_cast<uint32_t>(named.strings.Intern(parts));
                },
            .trace_fields = {"size"}};
  const Profile prepared = Prepared(std::move(builder), plan).profile;
  EXPECT_EQ(prepared.text(prepared.trace_fields[0]), "size");
  EXPECT_EQ(prepared.text(StringId{prepared.column(Dimension::kTrace)[0]}), "text");
  EXPECT_EQ(prepared.text(StringId{prepared.column(Dimension::kTraceField)[0]}), "7");
}

}  // namespace
}  // namespace profiler::analysis
