// Asks the runtimes of a recorded command to name their code in /tmp/perf-PID.map. This changes the
// command: they generate code for it, and write files.

#pragma once

#include <string>

namespace profiler::cli {

// Sets environment variables that the command inherits:
//
//   PYTHONPERFSUPPORT=1         CPython 3.12 and later
//   ERL_FLAGS="… +JPperf true"  Erlang/OTP 24 and later; other flags stay
//   DOTNET_PerfMapEnabled=1     .NET
//
// Call it before the command is forked. Returns a sentence about them for the user.
std::string AskForRuntimeMaps();

}  // namespace profiler::cli
