// Tests confidence intervals of a report's rows: as columns, and in JSON.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "src/profile/testing/handmade_profile.h"
#include "src/views/report/fields.h"
#include "src/views/report/report.h"
#include "src/views/report/report_json.h"
#include "src/views/report/testing/format_report.h"

namespace profiler::report {
namespace {

using profile::HandmadeProfile;

constexpr int kRounds = 200;

// Returns alternating samples of a and b, and a sample of c after every ten of them. main calls all
// three.
HandmadeProfile TwoAlikeAndOneLess() {
  HandmadeProfile builder;
  builder.InOrder();
  for (int i = 0; i < kRounds; ++i) {
    builder.Sample("app", {"main@app", i % 2 == 0 ? "a@app" : "b@app"});
    if (i % 10 == 9) builder.Sample("app", {"main@app", "main@app", "c@app"});
  }
  return builder;
}

// Returns the report from the line after the event count on.
std::string Table(HandmadeProfile& builder, ReportOptions options) {
  options.sort = {SortKey::kSymbol};
  options.show_intervals = true;
  options.call_graph.type = CallGraphType::kNone;
  const std::string text = FormatReport(builder.profile(), options);
  return text.substr(text.find("# 95%"));
}

TEST(IntervalsTest, RowsThatCannotBeToldApartShareARank) {
  HandmadeProfile builder = TwoAlikeAndOneLess();
  EXPECT_EQ(
      Table(builder, {.children = false}),
      "# 95%: has the true share in 95 of 100 recordings; rows of one rank may be in any order\n"
      "#\n"
      "# Overhead  Overhead 95%   Rank  Symbol\n"
      "# ........  ............  .....  ......\n"
      "#\n"
      "    45.45%  41.42-49.55%      1  [.] a\n"
      "    45.45%  41.46-49.51%      1  [.] b\n"
      "     9.09%   5.96-13.64%      3  [.] c\n"
      "\n\n");
}

TEST(IntervalsTest, ARowWithItsCalleesHasAnIntervalOfItsOwn) {
  HandmadeProfile builder = TwoAlikeAndOneLess();
  EXPECT_EQ(
      Table(builder, {}),
      "# 95%: has the true share in 95 of 100 recordings; rows of one rank may be in any order\n"
      "#\n"
      "# Children   Children 95%      Self      Self 95%   Rank  Symbol  \n"
      "# ........  .............  ........  ............  .....  ........\n"
      "#\n"
      "   100.00%  98.13-100.00%     0.00%    0.00-1.87%         [.] main\n"
      "    45.45%   41.42-49.55%    45.45%  41.42-49.55%      1  [.] a\n"
      "    45.45%   41.46-49.51%    45.45%  41.46-49.51%      1  [.] b\n"
      "     9.09%    5.96-13.64%     9.09%   5.96-13.64%      3  [.] c\n"
      "\n\n");
}

TEST(IntervalsTest, ThePercentageOfAFilterIsOfWhatPassedIt) {
  HandmadeProfile builder = TwoAlikeAndOneLess();
  builder.Sample("other", {"main@app"}, 1000);
  HandmadeProfile alone = TwoAlikeAndOneLess();
  EXPECT_EQ(Table(builder,
                  {.children = false, .filter = {.comms = {"app"}}, .relative_percentages = true}),
            Table(alone, {.children = false}));
}

TEST(IntervalsTest, WhatIsCountedHasNone) {
  HandmadeProfile builder;
  builder.InOrder().Sample("app", {"main@app"}, 10, 1);
  EXPECT_EQ(Table(builder, {}),
            "# 95%: there are no intervals, because every occurrence was counted, so nothing is "
            "estimated\n"
            "#\n"
            "# Overhead  Symbol  \n"
            "# ........  ........\n"
            "#\n"
            "   100.00%  [.] main\n"
            "\n\n");
}

TEST(IntervalsTest, WithoutTheOrderOfSamplesThereAreNone) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app"}, 10);
  EXPECT_EQ(Table(builder, {}),
            "# 95%: there are no intervals, because the order of these samples is not known\n"
            "#\n"
            "# Overhead  Symbol  \n"
            "# ........  ........\n"
            "#\n"
            "   100.00%  [.] main\n"
            "\n\n");
}

TEST(IntervalsTest, NothingIsSaidOfThemWithoutRows) {
  HandmadeProfile builder = TwoAlikeAndOneLess();
  const std::string text =
      FormatReport(builder.profile(), {.show_intervals = true, .filter = {.comms = {"nobody"}}});
  EXPECT_EQ(text.find("95%"), std::string::npos);
}

TEST(IntervalsTest, AreFieldsLikeOthers) {
  HandmadeProfile builder = TwoAlikeAndOneLess();
  ReportOptions options{.call_graph = {.type = CallGraphType::kNone}, .separator = ";"};
  options.fields = *ParseFields("rank,overhead_ci,sym");
  const std::string text = FormatReport(builder.profile(), options);
  EXPECT_EQ(text.substr(text.find("# Rank")),
            "# Rank;Overhead 95%;Symbol  \n"
            "1;41.42-49.55%;[.] a\n"
            "1;41.46-49.51%;[.] b\n"
            "3;5.96-13.64%;[.] c\n"
            ";0.00-1.87%;[.] main\n"
            "\n\n");
}

TEST(IntervalsTest, EachShareOfADocumentHasOne) {
  HandmadeProfile builder = TwoAlikeAndOneLess();
  ReportOptions options{.sort = {SortKey::kComm, SortKey::kSymbol}};
  const auto document =
      nlohmann::json::parse(ReportAsJson(builder.profile(), options, {.path = "perf.data"}));
  EXPECT_EQ(document["recording"], nlohmann::json({{"path", "perf.data"}}));
  const nlohmann::json& event = document["events"].at(0);
  EXPECT_EQ(event["samples"], kRounds + kRounds / 10);
  EXPECT_EQ(event["intervals"], true);
  std::string rows;
  for (const nlohmann::json& row : event["rows"]) {
    EXPECT_EQ(row["comm"], "app");
    EXPECT_LT(row["self"]["low"], row["self"]["high"]);
    EXPECT_LT(row["total"]["low"], row["total"]["high"]);
    rows += row["symbol"].get<std::string>() + " " + row["self"]["samples"].dump() + " " +
            row["total"]["samples"].dump() + " " + row.value("rank", nlohmann::json()).dump() +
            "\n";
  }
  EXPECT_EQ(rows,
            "main 0 220 null\n"
            "a 100 100 1\n"
            "b 100 100 1\n"
            "c 20 20 3\n");
}

}  // namespace
}  // namespace profiler::report
