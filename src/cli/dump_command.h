// What `dump` does, for views that perf lets do the same.

#pragma once

#include <string>

namespace profiler::cli {

// Prints every record of a recording with its place and all its fields; the exit code.
int DumpRecording(const std::string& input);

}  // namespace profiler::cli
