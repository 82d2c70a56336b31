#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/analysis/amount.h"
#include "src/profile/testing/handmade_profile.h"
#include "src/views/diff/command_difference.h"
#include "src/views/diff/compare.h"
#include "src/views/diff/condition.h"
#include "src/views/diff/diff_json.h"
#include "src/views/diff/diff_text.h"
#include "src/views/diff/mean.h"

namespace profiler::diff {
namespace {

using profile::EventId;
using profile::HandmadeProfile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Recorded = Run;

// Names of a run's functions, with their samples.
using Functions = std::vector<std::pair<std::string, uint64_t>>;

// Returns a recording in which the functions alternate; each function's samples are spread evenly.
Run RunOf(const std::string& name, const Functions& functions) {
  HandmadeProfile builder;
  builder.InOrder().Event("cpu-clock");
  uint64_t most = 0;
  for (const auto& [function, samples] : functions) most = std::max(most, samples);
  for (uint64_t turn = 0; turn < most; ++turn) {
    for (const auto& [function, samples] : functions) {
      if (turn * samples / most != (turn + 1) * samples / most) {
        builder.Sample("app", {"main@app", function + "@app"});
      }
    }
  }
  const profile::Profile& profile = builder.profile();
  analysis::KeyedRows keys(profile, EventId{0}, analysis::KeyBy::kFunction);
  analysis::Measurement measured = analysis::Measure(profile, EventId{0}, keys);
  return {.name = name,
          .event = "cpu-clock",
          .names = std::move(keys).TakeNames(),
          .measured = std::move(measured)};
}

std::vector<Recorded> Runs(const std::vector<Functions>& all) {
  std::vector<Recorded> runs;
  for (const Functions& functions : all) {
    runs.push_back(RunOf("run" + std::to_string(runs.size()) + ".data", functions));
  }
  return runs;
}

std::vector<std::string> Significant(const Diff& diff) {
  std::vector<std::string> names;
  for (const Row& row : diff.rows) {
    if (row.significant) names.push_back(row.name);
  }
  return names;
}

const Functions kBefore = {{"parse", 1000}, {"read", 500}, {"print", 500}};
const Functions kAfter = {{"parse", 1000}, {"read", 900}, {"print", 500}};

TEST(Compare, FindsWhatGrewAndWhatHasLessOfTheWholeForThat) {
  const Diff diff = Compare(Runs({kBefore}), Runs({kAfter}), {});
  EXPECT_THAT(Significant(diff), ElementsAre("read", "parse", "print"));
  EXPECT_NEAR(diff.rows[0].share.before, 0.25, 1e-9);
  EXPECT_NEAR(diff.rows[0].share.after, 0.375, 1e-9);
  EXPECT_EQ(diff.rows[0].before, 500e6);
  EXPECT_EQ(diff.rows[0].after, 900e6);
}

TEST(Compare, FindsNothingBetweenEqualRuns) {
  const Diff diff = Compare(Runs({kBefore}), Runs({kBefore}), {});
  EXPECT_THAT(Significant(diff), ElementsAre());
  EXPECT_GT(diff.smallest_detectable, 0);
  EXPECT_LT(diff.smallest_detectable, 0.1);
}

TEST(Compare, MatchesFunctionsByNameAndTellsOfThoseOnOneSide) {
  const Diff diff =
      Compare(Runs({{{"old", 500}, {"same", 500}}}), Runs({{{"new", 500}, {"same", 500}}}), {});
  EXPECT_THAT(Significant(diff), testing::UnorderedElementsAre("old", "new"));
}

TEST(Compare, LeavesOutWhatHasNextToNoSamples) {
  const Diff diff = Compare(Runs({kBefore}), Runs({{{"parse", 2000}, {"rare", 3}}}), {});
  for (const Row& row : diff.rows) EXPECT_NE(row.name, "rare");
}

TEST(Compare, WithCalleesTheCallerOfAllHasEverything) {
  const Diff diff = Compare(Runs({kBefore}), Runs({kAfter}), {.weight = Weight::kTotal});
  for (const Row& row : diff.rows) {
    if (row.name != "main") continue;
    EXPECT_EQ(row.share.before, 1);
    EXPECT_FALSE(row.significant);
  }
}

TEST(Compare, SeveralRunsThatVaryAsMuchAsTheGroupsDifferShowNothing) {
  const auto run = [](uint64_t read) {
    return Functions{{"parse", 1000}, {"read", read}, {"print", 500}, {"wait", 500 + read / 3}};
  };
  EXPECT_THAT(Significant(Compare(Runs({run(300), run(900), run(600)}),
                                  Runs({run(700), run(400), run(1000)}), {})),
              ElementsAre());
}

TEST(FormatDiff, ShowsSignificantRowsWithTheirIntervalsAndTimes) {
  const std::vector<Recorded> before = Runs({kBefore}), after = Runs({kAfter});
  const std::string text = FormatDiff(Compare(before, after, {}), before, after, {});
  EXPECT_THAT(text, testing::StartsWith("# overall: 2.000 s → 2.400 s of cpu-clock (+20.0 %), "
                                        "mostly in read (+0.400 s)\n"));
  EXPECT_THAT(text, HasSubstr("# before: run0.data: 2000 samples, 2.000 s of cpu-clock\n"
                              "# after:  run0.data: 2400 samples, 2.400 s of cpu-clock\n"));
  EXPECT_THAT(text, HasSubstr("# Before   After  Change in points   Before    After    Change  "
                              "Function\n"));
  EXPECT_THAT(text, testing::ContainsRegex(
                        "  25.00%  37.50%     \\+12.50 ± [0-9.]+  0.500 s  0.900 s  \\+0.400 s  "
                        "read\n"));
  EXPECT_THAT(text, HasSubstr("one run per side"));
}

TEST(FormatDiff, ShowsSlowerRowsFirstAndNotRowsWhoseShareOnlyGrew) {
  const std::vector<Recorded> before = Runs({{{"gone", 2000}, {"slow", 500}, {"same", 800}}});
  const std::vector<Recorded> after = Runs({{{"gone", 10}, {"slow", 800}, {"same", 800}}});
  const std::string text =
      FormatDiff(Compare(before, after, {}), before, after, {.slower_first = true});
  EXPECT_LT(text.find("  slow\n"), text.find("  gone\n"));
  EXPECT_LT(text.find("  gone\n"), text.find("  same\n"));
  EXPECT_THAT(text, testing::StartsWith("# overall: 3.300 s → 1.610 s of cpu-clock (-51.2 %), "
                                        "mostly in gone (-1.990 s)\n"));
}

TEST(FormatDiff, TheOverallChangeOfSeveralRunsIsTheirMeans) {
  const std::vector<Recorded> before = Runs({kBefore, kBefore}), after = Runs({kBefore, kBefore});
  EXPECT_THAT(FormatDiff(Compare(before, after, {}), before, after, {}),
              testing::StartsWith("# overall: 2.000 s → 2.000 s of cpu-clock (+0.0 %), mean of the "
                                  "runs\n"));
}

TEST(FormatDiff, SaysThatNothingChangedAndWhatWouldHaveBeenSeen) {
  const std::vector<Recorded> before = Runs({kBefore}), after = Runs({kBefore});
  const Diff diff = Compare(before, after, {});
  const std::string text = FormatDiff(diff, before, after, {});
  EXPECT_THAT(text, HasSubstr("no significant change"));
  EXPECT_THAT(text, testing::ContainsRegex("smaller than [0-9.]+ points of the whole"));
  EXPECT_THAT(text, Not(HasSubstr("Before   After")));
  EXPECT_THAT(FormatDiff(diff, before, after, {.all = true}), HasSubstr("parse"));
}

TEST(FormatDiff, DoesNotCallItNoChangeIfNoneCouldBeSeen) {
  const std::vector<Recorded> before = Runs({kBefore}), after = Runs({kBefore});
  Diff diff = Compare(before, after, {});
  diff.smallest_detectable = 1.67;
  const std::string text = FormatDiff(diff, before, after, {});
  EXPECT_THAT(text, HasSubstr("too few samples to find a change"));
  EXPECT_THAT(text, Not(HasSubstr("points of the whole")));
}

TEST(FormatDiff, SaysWhatPartOfAGroupsSamplesIsMissing) {
  std::vector<Recorded> before = Runs({kBefore, kBefore}), after = Runs({kAfter});
  before[0].measured.missing_part = 0.5;
  const std::string text = FormatDiff(Compare(before, after, {}), before, after, {});
  EXPECT_THAT(text, HasSubstr("# 33.3 % of the samples of before are missing: shares are corrected "
                              "for that, times are not\n"));
  EXPECT_THAT(text, Not(HasSubstr("of after are missing")));
  before[0].measured.missing_part = 0.001;
  EXPECT_THAT(FormatDiff(Compare(before, after, {}), before, after, {}),
              Not(HasSubstr("are missing")));
}

// Returns the note about commands in the comparison of two groups; "" without a note. Each recording
// is called like its command.
std::string NoteOnCommands(const std::vector<std::vector<std::string>>& before,
                           const std::vector<std::vector<std::string>>& after) {
  const auto runs_of = [](const std::vector<std::vector<std::string>>& commands) {
    std::vector<Recorded> runs;
    for (const std::vector<std::string>& command : commands) {
      runs.push_back(RunOf(command.empty() ? "none" : command.front() + ".data", kBefore));
      runs.back().command = command;
    }
    return runs;
  };
  const std::vector<Recorded> old_runs = runs_of(before), new_runs = runs_of(after);
  return DifferenceOfCommands(old_runs, new_runs).Text();
}

TEST(DifferenceOfCommands, NamesTheProgramsOrSaysThatTheArgumentsDiffer) {
  EXPECT_EQ(NoteOnCommands({{"sort", "a"}}, {{"grep", "a"}}),
            "the programs differ: sort.data ran sort, grep.data ran grep");
  EXPECT_EQ(NoteOnCommands({{"/old/sort", "a"}}, {{"./sort", "a", "b"}}),
            "the arguments of sort differ between /old/sort.data and ./sort.data");
  EXPECT_EQ(NoteOnCommands({{"x", "1"}, {"x", "2"}}, {{"x", "1"}, {"y", "1"}}),
            "the programs differ: x.data ran x, y.data ran y");
}

TEST(DifferenceOfCommands, IsNoneForTwoBuildsOfAProgramAndForRecordingsWithoutACommand) {
  EXPECT_EQ(NoteOnCommands({{"/old/sort", "a"}}, {{"./sort", "a"}}), "");
  EXPECT_EQ(NoteOnCommands({{}}, {{"./sort", "a"}}), "");
  EXPECT_EQ(NoteOnCommands({{}}, {{}}), "");
}

TEST(DifferenceOfCommands, IsALineOfTheTextAndAMemberOfTheJson) {
  std::vector<Recorded> before = Runs({kBefore}), after = Runs({kAfter});
  const Diff diff = Compare(before, after, {});
  const auto json = [&] {
    return DiffAsJson(diff, before, after, analysis::KeyBy::kFunction, Weight::kSelf);
  };
  EXPECT_THAT(FormatDiff(diff, before, after, {}), Not(HasSubstr("differ")));
  EXPECT_THAT(json(), Not(HasSubstr("command")));
  before[0].command = {"./sort", "a"};
  after[0].command = {"./sort", "b"};
  EXPECT_THAT(FormatDiff(diff, before, after, {}),
              HasSubstr("# the arguments of sort differ between run0.data and run0.data\n"));
  EXPECT_THAT(json(), HasSubstr("\"command\": \"./sort a\""));
  EXPECT_THAT(json(), HasSubstr("\"different_commands\": \"arguments\""));
}

TEST(FormatDiff, AsMarkdownIsATableThatNamesCannotBreak) {
  const std::vector<Recorded> before = Runs({{{"a|`b", 500}, {"c", 500}}});
  const std::vector<Recorded> after = Runs({{{"a|`b", 900}, {"c", 500}}});
  const std::string text =
      FormatDiff(Compare(before, after, {}), before, after, {.markdown = true});
  EXPECT_THAT(text, HasSubstr("| Before | After | Change in points | Before | After | Change | "
                              "Function |\n| ---: |"));
  EXPECT_THAT(text, HasSubstr("| `a\\|b` |\n"));
}

TEST(AmountText, TimesAreSecondsAndOthersNumbers) {
  EXPECT_EQ(analysis::AmountText(1.5e9, "cpu-clock:u"), "1.500 s");
  EXPECT_EQ(analysis::AmountText(-1.5e9, "task-clock", true), "-1.500 s");
  EXPECT_EQ(analysis::AmountText(1234, "cycles"), "1234");
  EXPECT_EQ(analysis::AmountText(12, "page-faults", true), "+12");
}

std::string MeanText(const std::vector<Functions>& all) {
  const std::vector<Recorded> runs = Runs(all);
  return FormatMean(MeanOf(runs), runs);
}

TEST(FormatMean, ShowsTheMeanOfTheRunsTheHeaviestFirst) {
  EXPECT_EQ(MeanText({{{"read", 300}, {"parse", 700}, {"rare", 3}},
                      {{"read", 500}, {"parse", 700}},
                      {{"read", 400}, {"parse", 700}, {"other", 4}}}),
            "# 3 runs: run0.data run1.data run2.data\n"
            "# 1.102 s of cpu-clock a run, from 1.003 s to 1.200 s\n"
            "# ±: half of the 95 % interval of the mean, from the differences between runs\n"
            "# to compare: profiler diff run0.data run1.data run2.data -- OTHERS…\n"
            "#\n"
            "#  Share      ±     Time  Function\n"
            "# ......  .....  .......  .................\n"
            "  63.84%  14.26  0.700 s  parse\n"
            "  35.94%  14.62  0.400 s  read\n"
            "   0.22%         0.002 s  2 other functions\n");
}

TEST(FormatMean, FunctionsOfLessThanHalfAPercentAndMoreThanTwentyAreCounted) {
  Functions functions = {{"most", 5000}, {"small", 20}};
  for (int i = 0; i < 24; ++i) functions.emplace_back("f" + std::to_string(i), 100);
  const std::string text = MeanText({functions, functions});
  EXPECT_THAT(text, HasSubstr("  f18\n"));
  EXPECT_THAT(text, Not(HasSubstr("  f19\n")));
  EXPECT_THAT(text, HasSubstr("  6 other functions\n"));
}

TEST(FormatMean, OneRunSaysThatItKnowsOfNoOthers) {
  const std::string text = MeanText({kBefore});
  EXPECT_THAT(text, HasSubstr("# 1 run: run0.data\n# 2.000 s of cpu-clock\n"));
  EXPECT_THAT(text, HasSubstr("how far runs differ is not known\n"));
  EXPECT_THAT(text, Not(HasSubstr("profiler diff")));
}

TEST(FormatMean, OfManyRunsNamesTheFirstAndTheLast) {
  EXPECT_THAT(MeanText(std::vector<Functions>(9, kBefore)),
              HasSubstr("# 9 runs: run0.data run1.data … run8.data\n"));
}

TEST(MeanOf, RunsThatDifferAreKnownWorse) {
  const std::vector<Recorded> calm = Runs({kBefore, kBefore, kBefore});
  const std::vector<Recorded> high_variance = Runs({kBefore, kAfter, kBefore});
  EXPECT_LT(MeanOf(calm).rows[0].share.half_width, 0.03);
  EXPECT_GT(MeanOf(high_variance).rows[0].share.half_width, 0.06);
}

Row Changed(double before, double after, bool significant = true) {
  return {.share = {.before = before, .after = after}, .significant = significant};
}

TEST(Condition, IsOfPointsOrOfWhatThereWas) {
  const auto points = ParseCondition("self > +2pt");
  ASSERT_TRUE(points.ok());
  EXPECT_TRUE(points->IsMet(Changed(0.10, 0.13)));
  EXPECT_FALSE(points->IsMet(Changed(0.10, 0.11)));
  EXPECT_FALSE(points->IsMet(Changed(0.13, 0.10)));
  const auto relative = ParseCondition("total>10%");
  ASSERT_TRUE(relative.ok());
  EXPECT_EQ(relative->weight, Weight::kTotal);
  EXPECT_TRUE(relative->IsMet(Changed(0.10, 0.115)));
  EXPECT_FALSE(relative->IsMet(Changed(0.10, 0.105)));
  EXPECT_TRUE(relative->IsMet(Changed(0, 0.01)));
  const auto less = ParseCondition("self < -1pt");
  ASSERT_TRUE(less.ok());
  EXPECT_TRUE(less->IsMet(Changed(0.10, 0.08)));
  EXPECT_FALSE(less->IsMet(Changed(0.10, 0.095)));
}

TEST(Condition, IsNeverMetByChance) {
  EXPECT_FALSE(ParseCondition("self>2pt")->IsMet(Changed(0.1, 0.2, /*significant=*/false)));
}

TEST(Condition, WhatCannotBeReadIsQuoted) {
  for (const char* text : {"", "self", "self>", "self>2", "own>2pt", "self>xpt", "self>-2pt",
                           "self<2pt", "self=2pt"}) {
    const auto condition = ParseCondition(text);
    ASSERT_FALSE(condition.ok()) << text;
    EXPECT_THAT(std::string(condition.status().message()),
                HasSubstr("'" + std::string(text) + "'"));
  }
}

}  // namespace
}  // namespace profiler::diff
