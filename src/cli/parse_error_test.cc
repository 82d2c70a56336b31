#include "src/cli/parse_error.h"

#include "gtest/gtest.h"

namespace profiler::cli {
namespace {

class ParseErrorTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"record", "report", "script", "flamegraph"}) app_.AddCommand(name, "");
  }

  usage::Command app_{"profiler", ""};
};

TEST_F(ParseErrorTest, FindsTheCommandThatWasMeant) {
  EXPECT_EQ(NearestCommand(app_, "reprot"), "report");
  EXPECT_EQ(NearestCommand(app_, "recrod"), "record");
  EXPECT_EQ(NearestCommand(app_, "flame"), "flamegraph");
  EXPECT_EQ(NearestCommand(app_, "scrip"), "script");
  EXPECT_EQ(NearestCommand(app_, "xyzzy"), "");
}

TEST_F(ParseErrorTest, NamesTheWrongWord) {
  EXPECT_EQ(ExplainParseError(app_, "reprot", "?"),
            "'reprot' is no command; did you mean report? (profiler --help lists them all)");
  EXPECT_EQ(ExplainParseError(app_, "xyzzy", "?"),
            "'xyzzy' is no command; profiler --help lists them");
  EXPECT_EQ(ExplainParseError(app_, "record", "-x: unknown"),
            "record: -x: unknown; profiler record --help lists what there is");
  EXPECT_EQ(ExplainParseError(app_, "", "A subcommand is required"),
            "A subcommand is required; profiler --help lists what there is");
}

}  // namespace
}  // namespace profiler::cli
