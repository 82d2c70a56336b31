#include "src/cli/recording/runtime_maps.h"

#include <cstdlib>

namespace profiler::cli {

std::string AskForRuntimeMaps() {
  const std::string of_erlang = "+JPperf true";
  const char* const present = std::getenv("ERL_FLAGS");
  std::string flags = present == nullptr ? "" : present;
  if (flags.find("+JPperf") == std::string::npos) {
    flags += (flags.empty() ? "" : " ") + of_erlang;
  }
  setenv("PYTHONPERFSUPPORT", "1", 1);
  setenv("ERL_FLAGS", flags.c_str(), 1);
  setenv("DOTNET_PerfMapEnabled", "1", 1);
  return "the command runs with PYTHONPERFSUPPORT=1, ERL_FLAGS=\"" + flags +
         "\" and DOTNET_PerfMapEnabled=1: Python, Erlang and .NET name their code in "
         "/tmp/perf-PID.map, and run more slowly";
}

}  // namespace profiler::cli
