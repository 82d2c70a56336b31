// How good the unwound call chains of a recording are.

#pragma once

#include <string>

#include "src/profile/profile.h"

namespace profiler::report {

// One line for the top of a report, such as
//
//   # Call chains: 99.71% of 51952 are whole (12 joined, 3 read late, 40 guessed), 150 cut
//
// Empty for a profile without unwound chains.
std::string ChainsLine(const ChainQuality& chains);

// `report --chains`: the counts, and where chains are cut, the worst image first, each with what
// would mend it. Says so where no chains were unwound.
std::string FormatChains(const ChainQuality& chains);

}  // namespace profiler::report
