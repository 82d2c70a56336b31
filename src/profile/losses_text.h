// What is missing from a profile, in words.

#pragma once

#include <string>

#include "src/profile/profile.h"

namespace profiler::profile {

// "7 records lost in 2 gaps, 5 samples lost, 1 times throttled"; empty where nothing is missing.
// Losses::warnings are not part of it. Thread-safe.
std::string LossesText(const Losses& losses);

}  // namespace profiler::profile
