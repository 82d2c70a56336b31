// Prints the records of a recording for the views that have perf's option -D.

#pragma once

#include <functional>
#include <string>

#include "src/format/perf_data/read/recording.h"

namespace profiler::cli {

// Prints every record of a recording in perf's layout, and then the text that `end` makes of the
// recording, if it can be read again. Returns the exit code.
int DumpRecordingAsPerf(const std::string& input,
                        const std::function<std::string(perf_data::Recording&)>& end = {});

}  // namespace profiler::cli
