// Reports the quality of a recording's call chains.

#pragma once

#include <cstdint>
#include <string>

#include "src/profile/profile.h"

namespace profiler::report {

// Returns comment lines for the top of a report: one for unwound chains, one for the kernel's:
//
//   # Call chains: 99.71% of 51952 are whole by weight (40 guessed), 150 cut
//   # Chains by frame pointers: 12.50% of 320 are broken (a caller is in no mapping)
//
// Weights are sums over the profile's current rows; counts are of the whole recording. With several
// events each has its share. If a recording does not mark cut chains, shares are of the counts. The
// first line is missing if no chains were unwound, the second if none is broken.
std::string ChainsLine(const profile::Profile& profile);

// Returns the text of `report --chains`: the counts, and the cuts by weight, the heaviest image
// first, each with a remedy. Says so if no chains were unwound.
std::string FormatChains(const profile::Profile& profile);

}  // namespace profiler::report
