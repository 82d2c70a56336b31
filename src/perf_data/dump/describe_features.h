// The features of a recording beyond those that every report uses, as the lines that
// `perf report --header -I` prints of them (tools/perf/util/header.c, Linux 7.2).

#pragma once

#include <map>
#include <string>
#include <vector>

#include "src/perf_data/read/recording.h"

namespace profiler::perf_data {

// By the feature's number, without "# " in front. A section that cannot be read has a line that
// says so, an unknown one its number and size.
std::map<int, std::vector<std::string>> DescribeFeatures(const Recording& recording);

// The names of the features that perf defines and the recording does not have, in order.
std::vector<std::string> MissingFeatures(const Recording& recording);

}  // namespace profiler::perf_data
