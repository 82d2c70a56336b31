// Describes a recording for the headers of reports and for exports. A description combines the
// recording's own header with facts about its file from stat(2).

#pragma once

#include <cstdint>
#include <string>

#include "src/format/perf_data/read/recording.h"
#include "src/views/interchange/origin.h"
#include "src/views/json/recording_facts.h"
#include "src/views/report/header.h"

namespace profiler::cli {

enum class HeaderDetail : uint8_t {
  kFull,
  kMachineInBrief,  // says only that topology and caches are recorded
};

// Returns the header of a report. `path` is the path that was given to Recording::Open. For "-",
// the header has no facts about a file.
report::RecordingHeader DescribeRecording(const std::string& path,
                                          const perf_data::Recording& recording,
                                          HeaderDetail detail = HeaderDetail::kFull);

// Returns the facts by which a JSON document identifies its recording.
json::RecordingFacts FactsOf(const std::string& path, const perf_data::Recording& recording);

// Returns the origin of the samples, which exports to other formats store.
exports::Origin OriginOf(const perf_data::Recording& recording);

}  // namespace profiler::cli
