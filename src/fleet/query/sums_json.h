// Sums as JSON (docs/json.md).

#pragma once

#include <string>

#include "src/fleet/query/sums_text.h"

namespace profiler::fleet {

// Pure; thread-safe.
std::string SumsAsJson(const AnsweredSums& sums);

}  // namespace profiler::fleet
