// A message to the user about AUX data in a recording, because no view decodes them.

#pragma once

#include <optional>
#include <string>

#include "src/format/perf_data/format/features.h"

namespace profiler::perf_data {

// Returns "12,240 bytes of Intel PT trace data are not decoded; … Run perf report --itrace=i100us
// -i FILE", or nullopt if there are no AUX data. `in_samples`: true if samples carry AUX data.
std::optional<std::string> UndecodedAuxData(const AuxData& aux, bool in_samples);

}  // namespace profiler::perf_data
