// How good the call chains of a recording are.

#pragma once

#include <cstdint>
#include <string>

#include "src/profile/profile.h"

namespace profiler::report {

// Returns, for the top of a report, a line of the unwound chains and one of the kernel's, such as
//
//   # Call chains: 99.71% of 51952 are whole by weight (40 guessed), 150 cut
//   # Chains by frame pointers: 12.50% of 320 are broken (a caller is in no mapping)
//
// The weight is that of the rows that the profile has now; the counts are of the whole recording.
// With several events each has its share. Recordings that do not mark cut chains have shares of the
// counts. The first line is left out if no chains were unwound, the second if none is broken.
std::string ChainsLine(const profile::Profile& profile);

// Returns the text of `report --chains`: the counts, and by weight where chains are cut, the
// heaviest image first, each with its remedy. Says so if no chains were unwound.
std::string FormatChains(const profile::Profile& profile);

}  // namespace profiler::report
