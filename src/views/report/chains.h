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
// Weights are sums over the profile's current rows. Counts cover the whole recording. With several
// events, the first line has a share for each event. If a recording does not mark cut chains, the
// share is computed from the counts. The first line is missing if no chains were unwound. The
// second line is missing if no chain is broken.
std::string ChainsLine(const profile::Profile& profile);

// Returns the text of `report --chains`: the counts, then the cuts, the heaviest first, each with a
// remedy. If no chains were unwound, the text says so.
std::string FormatChains(const profile::Profile& profile);

}  // namespace profiler::report
