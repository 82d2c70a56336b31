// The output of `dump`, for other views that have an option for it, as in perf.

#pragma once

#include <string>

namespace profiler::cli {

// Prints every record of a recording with its offset and all its fields. Returns the exit code.
int DumpRecording(const std::string& input);

}  // namespace profiler::cli
