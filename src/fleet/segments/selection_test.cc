#include "src/fleet/segments/selection.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/fleet/segments/testing/window_text.h"

namespace profiler::fleet {
namespace {

// Returns the services of a window's rows that satisfy the conditions.
std::string ServicesWhere(const std::vector<std::string>& conditions) {
  Selection selection;
  for (const std::string& text : conditions) {
    const auto condition = ParseCondition(text);
    EXPECT_TRUE(condition.ok()) << condition.status();
    if (condition.ok()) selection.conditions.push_back(*condition);
  }
  const Window window = WebAndDatabase().Finish();
  if (!HoldsOfMachine(selection, window)) return "none";
  const RowSelection rows(selection, window);
  std::string text;
  for (const Row& row : window.rows) {
    if (rows(row))
      absl::StrAppend(&text, View(window.strings[window.workloads[row.workload].service]), " ");
  }
  return text;
}

TEST(Selection, ChoosesByWhatSamplesHave) {
  EXPECT_EQ(ServicesWhere({}), "web web db ");
  EXPECT_EQ(ServicesWhere({"service=db"}), "db ");
  EXPECT_EQ(ServicesWhere({"service!=db"}), "web web ");
  EXPECT_EQ(ServicesWhere({"program~post*"}), "db ");
  EXPECT_EQ(ServicesWhere({"build-id=ab12", "service=web"}), "web web ");
  EXPECT_EQ(ServicesWhere({"build-id=ab12", "service=db"}), "");
  EXPECT_EQ(ServicesWhere({"container=c0ffee", "pod=p-1"}), "db ");
  EXPECT_EQ(ServicesWhere({"event!~cpu*"}), "");
}

TEST(Selection, ChoosesByTheHostAndItsLabels) {
  EXPECT_EQ(ServicesWhere({"host=h1", "release=1.2"}), "web web db ");
  EXPECT_EQ(ServicesWhere({"host!=h1"}), "none");
  EXPECT_EQ(ServicesWhere({"region~e*"}), "web web db ");
  EXPECT_EQ(ServicesWhere({"zone=a"}), "none");
  EXPECT_EQ(ServicesWhere({"zone!=a"}), "web web db ")
      << "a label that is not there is another one";
}

TEST(Selection, KnowsPatterns) {
  const auto holds = [](const char* condition, const char* text) {
    return ParseCondition(condition)->Holds(text);
  };
  EXPECT_TRUE(holds("host~*", ""));
  EXPECT_TRUE(holds("host~a*c*", "abcbc"));
  EXPECT_TRUE(holds("host~*.eu.*", "db7.eu.example"));
  EXPECT_FALSE(holds("host~a*b", "abc"));
  EXPECT_FALSE(holds("host~ab", "abc"));
  EXPECT_FALSE(holds("host=a*", "abc")) << "without ~ a star is a star";
}

TEST(Selection, SaysWhatAConditionShouldBe) {
  for (const char* text : {"", "service", "=web", "service<web", "!=a", "service!web"}) {
    EXPECT_EQ(ParseCondition(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(ParseTime, TakesDistancesFromNowAndTimes) {
  constexpr UnixTime kNow = 1'764'115'200'000'000'000;
  constexpr UnixTime kSecond = 1'000'000'000;
  EXPECT_EQ(ParseTime("now", kNow).value(), kNow);
  EXPECT_EQ(ParseTime("90s", kNow).value(), kNow - 90 * kSecond);
  EXPECT_EQ(ParseTime("1h", kNow).value(), kNow - 3600 * kSecond);
  EXPECT_EQ(ParseTime("2w", kNow).value(), kNow - 14 * 86'400 * kSecond);
  EXPECT_EQ(ParseTime("90s", kNow + kSecond - 1).value(), kNow - 90 * kSecond);
  EXPECT_EQ(ParseTime("2025-11-26T00:00:00Z", kNow).value(), kNow);
  EXPECT_EQ(ParseTime("2025-11-26T00:00", kNow).value(), kNow);
  EXPECT_EQ(ParseTime("2025-11-26", kNow).value(), kNow);
  for (const char* text : {"", "1", "h", "1y", "-1h", "yesterday", "9223372036854775807w"}) {
    EXPECT_EQ(ParseTime(text, kNow).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace profiler::fleet
