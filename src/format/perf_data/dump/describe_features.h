// Describes features of a recording that reports do not use, in the lines that `perf report
// --header -I` prints (tools/perf/util/header.c, Linux 7.2).

#pragma once

#include <map>
#include <string>
#include <vector>

#include "src/format/perf_data/read/recording.h"

namespace profiler::perf_data {

// Returns the lines of each feature, without "# ", keyed by feature bit. If a section is
// unreadable, its line says so. If a section is unknown, its line has the section's number and
// size.
std::map<int, std::vector<std::string>> DescribeFeatures(const Recording& recording);

// Returns the names of the features that perf defines and the recording lacks, in order.
std::vector<std::string> MissingFeatures(const Recording& recording);

}  // namespace profiler::perf_data
