#include "src/cli/terminal/written_file.h"

#include "gtest/gtest.h"

namespace profiler::cli {
namespace {

TEST(HowToOpenTest, FollowsTheEndingOfTheName) {
  EXPECT_EQ(HowToOpen("flame.svg"), "open it in a browser");
  EXPECT_EQ(HowToOpen("a/page.html"), "open it in a browser");
  EXPECT_EQ(HowToOpen("cpu.pb.gz"), "open it with: go tool pprof -http=: cpu.pb.gz");
  EXPECT_EQ(HowToOpen("cpu.speedscope.json"), "open it at https://www.speedscope.app");
  EXPECT_EQ(HowToOpen("cpu.trace.json"), "open it at https://ui.perfetto.dev");
  EXPECT_EQ(HowToOpen("cpu.json.gz"), "open it at https://profiler.firefox.com");
  EXPECT_EQ(HowToOpen("cpu.folded"), "open it with: profiler report -i cpu.folded");
}

TEST(HowToOpenTest, SaysNothingForTextAndUnknownFormats) {
  EXPECT_EQ(HowToOpen("report.txt"), "");
  EXPECT_EQ(HowToOpen("report.json"), "");
  EXPECT_EQ(HowToOpen("svg"), "");
}

}  // namespace
}  // namespace profiler::cli
