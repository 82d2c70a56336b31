// Prints the records of a recording, for views that have perf's option -D.

#pragma once

#include <functional>
#include <string>

#include "src/format/perf_data/read/recording.h"

namespace profiler::cli {

// Prints every record of a recording in perf's layout. Then, if the recording can be read again,
// prints the text that `end` returns for it. Returns the exit code.
int DumpRecordingAsPerf(const std::string& input,
                        const std::function<std::string(perf_data::Recording&)>& end = {});

}  // namespace profiler::cli
