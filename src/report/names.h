// How much of a recording has names, and what would mend the rest.

#pragma once

#include <string>

#include "src/profile/profile.h"

namespace profiler::report {

// One line for the top of an event's rows, by the weight of the interrupted instructions:
//
//   # Names: 65.25% by symbol, 33.86% by function start only, 0.89% without (see --unresolved)
//
// Empty where all have a symbol.
std::string NamesLine(const profile::Profile& profile, profile::EventId event);

// `report --unresolved`: for each event the images with addresses that no symbol covers, in samples
// or call chains, the heaviest first; why that is, what would mend it, and the heaviest addresses.
// Says so where there are none.
std::string FormatUnresolved(const profile::Profile& profile);

}  // namespace profiler::report
