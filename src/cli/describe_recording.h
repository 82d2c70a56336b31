// A recording's header as a report shows it: joins what the file says of itself with what stat(2)
// says of it.

#pragma once

#include <cstdint>
#include <string>

#include "src/export/interchange/origin.h"
#include "src/json/recording.h"
#include "src/perf_data/read/recording.h"
#include "src/report/header.h"

namespace profiler::cli {

enum class HeaderDetail : uint8_t {
  kFull,
  kMachineInBrief,  // of the machine's topology and caches only that they are there
};

// `path` as given to Recording::Open; "-" has no file facts.
report::RecordingHeader DescribeRecording(const std::string& path,
                                          const perf_data::Recording& recording,
                                          HeaderDetail detail = HeaderDetail::kFull);

// How a view names the recording that it is of.
json::RecordingFacts FactsOf(const std::string& path, const perf_data::Recording& recording);

// What files of other programs say of where their samples come from.
exports::Origin OriginOf(const perf_data::Recording& recording);

}  // namespace profiler::cli
