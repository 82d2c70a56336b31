#include "src/cli/recording/recorded_command.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace profiler::cli {
namespace {

std::string CommandIn(const std::string& cmdline) {
  const std::vector<std::string> words = absl::StrSplit(cmdline, ' ');
  return absl::StrJoin(RecordedCommand(words), " ");
}

TEST(RecordedCommand, FollowsTheDashes) {
  EXPECT_EQ(CommandIn("profiler record --unknown -F 999 -- ls -l"), "ls -l");
}

TEST(RecordedCommand, IsTheFirstWordThatIsNoOption) {
  EXPECT_EQ(CommandIn("perf record -agF 99 --call-graph dwarf -e cycles ls -l"), "ls -l");
  EXPECT_EQ(CommandIn("perf record -F99 --call-graph=fp -o x.data ls record -o y"),
            "ls record -o y");
}

TEST(RecordedCommand, IsNoneWhereNothingWasStartedOrAnOptionIsNotKnown) {
  EXPECT_EQ(CommandIn("profiler record -a"), "");
  EXPECT_EQ(CommandIn("profiler record -p 17"), "");
  EXPECT_EQ(CommandIn("perf record --new-option ls"), "");
  EXPECT_EQ(CommandIn("perf record -p"), "");
  EXPECT_EQ(CommandIn("profiler"), "");
}

}  // namespace
}  // namespace profiler::cli
