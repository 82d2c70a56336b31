// What events counted in each thread, as READ records tell it (`perf record -s`).

#pragma once

#include <string>

#include "src/perf_data/read/recording.h"

namespace profiler::cli {

// A table in the layout of `perf report -T` (Linux 7.2): a column for each event that was read, a
// line for each thread; the headings alone where no record tells of any.
std::string ThreadCountersText(perf_data::Recording& recording);

}  // namespace profiler::cli
