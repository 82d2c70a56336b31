// How sure the rows of a report are: as columns, and as JSON.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "src/report/fields.h"
#include "src/report/report.h"
#include "src/report/report_json.h"
#include "src/report/testing/profile_builder.h"

namespace profiler::report {
namespace {

constexpr int kRounds = 200;

// a and b in turn, with a c of its own after each ten of them; all called by main.
ProfileBuilder TwoAlikeAndOneLess() {
  ProfileBuilder builder;
  builder.InOrder();
  for (int i = 0; i < kRounds; ++i) {
    builder.Sample("app", {"main@app", i % 2 == 0 ? "a@app" : "b@app"});
    if (i % 10 == 9) builder.Sample("app", {"main@app", "main@app", "c@app"});
  }
  return builder;
}

// What stands below the count of all.
std::string Table(ProfileBuilder& builder, ReportOptions options) {
  options.sort = {SortKey::kSymbol};
  options.show_intervals = true;
  options.call_graph.type = CallGraphType::kNone;
  const std::string text = FormatReport(builder.profile(), options);
  return text.substr(text.find("# 95%"));
}

TEST(IntervalsTest, RowsThatCannotBeToldApartShareARank) {
  ProfileBuilder builder = TwoAlikeAndOneLess();
  EXPECT_EQ(Table(builder, {.children = false}), "");
}

TEST(IntervalsTest, ARowWithItsCalleesHasAnIntervalOfItsOwn) {
  ProfileBuilder builder = TwoAlikeAndOneLess();
  EXPECT_EQ(Table(builder, {}), "");
}

TEST(IntervalsTest, ThePercentageOfAFilterIsOfWhatPassedIt) {
  ProfileBuilder builder = TwoAlikeAndOneLess();
  builder.Sample("other", {"main@app"}, 1000);
  ProfileBuilder alone = TwoAlikeAndOneLess();
  EXPECT_EQ(Table(builder,
                  {.children = false, .filter = {.comms = {"app"}}, .relative_percentages = true}),
            Table(alone, {.children = false}));
}

TEST(IntervalsTest, WhatIsCountedHasNone) {
  ProfileBuilder builder;
  builder.InOrder().Sample("app", {"main@app"}, 10, 1);
  EXPECT_EQ(Table(builder, {}), "");
}

TEST(IntervalsTest, WithoutTheOrderOfSamplesThereAreNone) {
  ProfileBuilder builder;
  builder.Sample("app", {"main@app"}, 10);
  EXPECT_EQ(Table(builder, {}), "");
}

TEST(IntervalsTest, AreFieldsLikeOthers) {
  ProfileBuilder builder = TwoAlikeAndOneLess();
  ReportOptions options{.separator = ";"};
  options.fields = *ParseFields("rank,overhead_ci,sym");
  const std::string text = FormatReport(builder.profile(), options);
  EXPECT_EQ(text.substr(text.find("#\n# Rank") + 2), "");
}

TEST(IntervalsTest, EachShareOfADocumentHasOne) {
  ProfileBuilder builder = TwoAlikeAndOneLess();
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
  EXPECT_EQ(rows, "");
}

}  // namespace
}  // namespace profiler::report
