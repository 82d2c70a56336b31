#include "src/fleet/agent/agent_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

namespace profiler::agent {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(PrometheusText, HasEachFigureWithItsHelpAndItsType) {
  AgentMetrics metrics;
  metrics.samples = 4711;
  metrics.cpu_seconds = 1.25;
  metrics.last_window = 1764115200.5;
  const std::string text = PrometheusText(metrics, "profiler 0.1");
  EXPECT_THAT(text, HasSubstr("# HELP profiler_agent_samples_total Recorded samples.\n"
                              "# TYPE profiler_agent_samples_total counter\n"
                              "profiler_agent_samples_total 4711\n"));
  EXPECT_THAT(text, HasSubstr("profiler_agent_info{version=\"profiler 0.1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nprofiler_agent_cpu_seconds_total 1.25\n"));
  EXPECT_THAT(text, HasSubstr("\nprofiler_agent_last_window_timestamp_seconds 1764115200.5\n"));
  EXPECT_THAT(text, Not(HasSubstr("pushed")));
}

TEST(PrometheusText, SaysWhatEachDestinationTook) {
  AgentMetrics metrics;
  metrics.pushed = {{.destination = "otlp+http://a\"b\\c", .segments = 3, .last_success = 2},
                    {.destination = "clickhouse+http://ch", .failures = 7}};
  const std::string text = PrometheusText(metrics, "");
  EXPECT_THAT(text, HasSubstr("profiler_agent_pushed_segments_total{destination=\"otlp+http://"
                              "a\\\"b\\\\c\"} 3\nprofiler_agent_pushed_segments_total{"
                              "destination=\"clickhouse+http://ch\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE profiler_agent_last_push_timestamp_seconds gauge\n"));
}

// Checks that each line follows the format's grammar, and that each name has one head.
TEST(PrometheusText, IsWhatTheFormatAllows) {
  AgentMetrics metrics;
  metrics.pushed = {{.destination = "x\ny"}};
  std::istringstream lines(PrometheusText(metrics, "1\"2"));
  const std::regex head("# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)");
  const std::regex value(
      R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[a-z]+="([^"\\\n]|\\["\\n])*"\})? [0-9.e+-]+)re");
  std::set<std::string> names;
  std::string current, line;
  while (std::getline(lines, line)) {
    std::smatch match;
    if (std::regex_match(line, match, head)) {
      if (match[1] == "HELP") {
        current = match[2];
        EXPECT_TRUE(names.insert(current).second) << line;
      } else {
        EXPECT_EQ(match[2], current);
        const bool is_total = current.ends_with("_total");
        EXPECT_EQ(match[3], is_total ? "counter" : "gauge") << line;
      }
    } else {
      ASSERT_TRUE(std::regex_match(line, match, value)) << line;
      EXPECT_EQ(match[1], current);
    }
  }
  EXPECT_GE(names.size(), 27u);
}

}  // namespace
}  // namespace profiler::agent
