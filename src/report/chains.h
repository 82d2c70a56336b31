// How good the call chains of a recording are.

#pragma once

#include <string>

#include "src/profile/profile.h"

namespace profiler::report {

// For the top of a report, a line of the unwound chains and one of the kernel's, such as
//
//   # Call chains: 99.71% of 51952 are whole (12 joined, 3 read late, 40 guessed), 150 cut
//   # Chains by frame pointers: 12.50% of 320 are broken (a caller is in no mapping)
//
// The first is left out where no chains were unwound, the second where none is broken.
std::string ChainsLine(const ChainQuality& chains);

// `report --chains`: the counts, and where chains are cut, the worst image first, each with what
// would mend it. Says so where no chains were unwound.
std::string FormatChains(const ChainQuality& chains);

}  // namespace profiler::report
