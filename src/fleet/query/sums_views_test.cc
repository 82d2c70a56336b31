#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/fleet/query/sums_json.h"
#include "src/fleet/query/sums_text.h"

namespace profiler::fleet {
namespace {

using testing::HasSubstr;
using testing::Not;

AnsweredSums HostsAndFunctions() {
  AnsweredSums sums;
  sums.source = "/spool";
  sums.question.selection.since = 1'764'115'200'000'000'000;
  sums.question.selection.conditions = {*ParseCondition("service=web")};
  sums.question.by = {*ParseField("host")};
  sums.question.functions = true;
  sums.answer.event = "cpu-clock";
  sums.answer.sums = {.lines = {{.keys = {"h1", "parse"}, .samples = 30, .value = 1'500'000'000},
                                {.keys = {"", "po\nll"}, .samples = 10, .value = 500'000'000}},
                      .samples = 40,
                      .value = 2'000'000'000};
  return sums;
}

TEST(FormatSums, IsATableOfSharesSamplesAndTimes) {
  EXPECT_EQ(FormatSums(HostsAndFunctions()),
            "# /spool: 2025-11-26T00:00:00Z to now, service=web\n"
            "# 40 samples, 2.000 s of cpu-clock\n"
            "#\n"
            "#  Share  Samples  CPU time  Host  Function\n"
            "# ......  .......  ........  ....  ........\n"
            "  75.00%       30   1.500 s  h1    parse\n"
            "  25.00%       10   0.500 s  -     po?ll\n");
}

TEST(FormatSums, SaysThatThereMayBeMoreLinesAndWhatTotalsAre) {
  AnsweredSums sums = HostsAndFunctions();
  sums.question.most = 2;
  sums.question.total = true;
  EXPECT_THAT(FormatSums(sums), HasSubstr("# each sample counts for all functions of its stack\n"
                                          "# the 2 heaviest rows; pass -n for more\n"));
}

TEST(FormatSums, OfSeveralEventsAddsNothingUp) {
  AnsweredSums sums = HostsAndFunctions();
  sums.question.by = {*ParseField("event")};
  sums.question.functions = false;
  sums.answer.event.clear();
  sums.answer.sums.lines = {{.keys = {"cpu-clock"}, .samples = 30, .value = 1'500'000'000},
                            {.keys = {"cycles"}, .samples = 10, .value = 77}};
  const std::string text = FormatSums(sums);
  EXPECT_THAT(text, HasSubstr("#\n"
                              "# Samples   Amount  Event\n"
                              "# .......  .......  .........\n"
                              "       30  1.500 s  cpu-clock\n"
                              "       10       77  cycles\n"));
  EXPECT_THAT(text, Not(HasSubstr("Share")));
}

TEST(FormatSums, OfNothingToldApartHasOneLine) {
  AnsweredSums sums = HostsAndFunctions();
  sums.question.by.clear();
  sums.question.functions = false;
  sums.answer.sums.lines = {{.keys = {}, .samples = 40, .value = 2'000'000'000}};
  EXPECT_THAT(FormatSums(sums), HasSubstr("  100.00%       40   2.000 s  all\n"));
}

TEST(SumsAsJson, HasTheQuestionAndItsAnswer) {
  AnsweredSums sums = HostsAndFunctions();
  sums.notes = {"one is damaged"};
  const std::string text = SumsAsJson(sums);
  for (const char* part :
       {R"("view": "query")", R"("source": "/spool")", R"("since": "2025-11-26T00:00:00Z")",
        R"("service=web")", R"("weight": "self")", R"("unit": "ns")", R"("samples": 40)",
        R"("one is damaged")", R"("parse")"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("until")));
}

}  // namespace
}  // namespace profiler::fleet
