#include "src/cli/recording/runtime_maps.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace profiler::cli {
namespace {

TEST(RuntimeMaps, VariablesOfThreeRuntimesAreSetAndNamed) {
  unsetenv("ERL_FLAGS");
  const std::string note = AskForRuntimeMaps();
  EXPECT_STREQ(getenv("PYTHONPERFSUPPORT"), "1");
  EXPECT_STREQ(getenv("ERL_FLAGS"), "+JPperf true");
  EXPECT_STREQ(getenv("DOTNET_PerfMapEnabled"), "1");
  EXPECT_EQ(note,
            "the command runs with PYTHONPERFSUPPORT=1, ERL_FLAGS=\"+JPperf true\" and "
            "DOTNET_PerfMapEnabled=1: Python, Erlang and .NET name their code in "
            "/tmp/perf-PID.map, and run more slowly");
}

TEST(RuntimeMaps, OtherFlagsOfErlangStay) {
  setenv("ERL_FLAGS", "+S 2", 1);
  AskForRuntimeMaps();
  EXPECT_STREQ(getenv("ERL_FLAGS"), "+S 2 +JPperf true");
  setenv("ERL_FLAGS", "+JPperf map", 1);
  AskForRuntimeMaps();
  EXPECT_STREQ(getenv("ERL_FLAGS"), "+JPperf map");
}

}  // namespace
}  // namespace profiler::cli
