// Describes a profile's losses in words.

#pragma once

#include <string>

#include "src/profile/profile.h"

namespace profiler::profile {

// Returns text such as "7 records lost in 2 gaps, 5 samples lost, 1 time throttled"; empty without
// losses. Does not include Losses::warnings. Thread-safe.
std::string LossesText(const Losses& losses);

}  // namespace profiler::profile
