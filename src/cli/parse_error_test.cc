#include "src/cli/parse_error.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::cli {
namespace {

using testing::HasSubstr;

class ParseErrorTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"record", "report", "script", "flamegraph"}) app_.AddCommand(name, "");
  }

  usage::Command app_{"profiler", ""};
};

TEST_F(ParseErrorTest, FindsTheCommandThatWasMeant) {
  EXPECT_EQ(ExplainParseError(app_, "reprot", "?"),
            "there is no command 'reprot'; did you mean 'report'? (see profiler --help)");
  EXPECT_THAT(ExplainParseError(app_, "recrod", "?"), HasSubstr("did you mean 'record'?"));
  EXPECT_THAT(ExplainParseError(app_, "flame", "?"), HasSubstr("did you mean 'flamegraph'?"));
  EXPECT_THAT(ExplainParseError(app_, "scrip", "?"), HasSubstr("did you mean 'script'?"));
  EXPECT_EQ(ExplainParseError(app_, "xyzzy", "?"),
            "there is no command 'xyzzy' (see profiler --help)");
}

TEST_F(ParseErrorTest, NamesWhatServesInsteadOfACommandOfPerf) {
  EXPECT_EQ(ExplainParseError(app_, "trace", "?"),
            "there is no command 'trace'; run strace -f, or profiler record -e "
            "raw_syscalls:sys_enter and profiler script");
  for (const char* name : {"sched", "mem", "c2c", "lock", "inject", "kmem", "ftrace", "probe"}) {
    EXPECT_THAT(ExplainParseError(app_, name, "?"), HasSubstr("profiler")) << name;
  }
}

TEST_F(ParseErrorTest, NamesTheWrongWord) {
  EXPECT_EQ(ExplainParseError(app_, "record", "unknown option -x"),
            "record: unknown option -x (see profiler record --help)");
  EXPECT_EQ(ExplainParseError(app_, "", "a command is missing"),
            "a command is missing (see profiler --help)");
}

}  // namespace
}  // namespace profiler::cli
