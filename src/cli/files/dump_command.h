// Prints the records of a recording, for views that have perf's option -D.

#pragma once

#include <functional>
#include <optional>
#include <string>

#include "src/format/perf_data/read/recording.h"
#include "src/importers/format.h"

namespace profiler::cli {

// Prints every record of a recording in perf's layout. Then, if the recording can be read again,
// prints the text that `end` returns for it. `format`: of another program's profile. Returns the
// exit code.
int DumpRecordingAsPerf(const std::string& input, std::optional<importers::Format> format,
                        const std::function<std::string(perf_data::Recording&)>& end = {});

}  // namespace profiler::cli
