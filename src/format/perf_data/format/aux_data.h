// A message about AUX data that a recording carries and no view decodes.

#pragma once

#include <optional>
#include <string>

#include "src/format/perf_data/format/features.h"

namespace profiler::perf_data {

// "12,240 bytes of Intel PT trace data are not decoded; … Run perf report --itrace=i100us -i FILE";
// nullopt if there are none. `in_samples`: true if samples carry AUX data.
std::optional<std::string> UndecodedAuxData(const AuxData& aux, bool in_samples);

}  // namespace profiler::perf_data
