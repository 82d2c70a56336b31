// Reports how much of a recording has names, and remedies for the rest.

#pragma once

#include <string>

#include "src/profile/profile.h"

namespace profiler::report {

// Returns a line for the top of an event's rows. It has the weights of interrupted instructions
// that have a symbol, only the start of their function, or no name:
//
//   # Names: 65.25% by symbol, 33.86% by function start only, 0.89% without (see --unresolved)
//
// Empty if all interrupted instructions have a symbol.
std::string NamesLine(const profile::Profile& profile, profile::EventId event);

// Returns the text of `report --unresolved`. For each event it lists images with addresses without
// a symbol, in samples or call chains, the heaviest first, with reason, remedy, and the heaviest
// addresses. Says so if every address has a symbol.
std::string FormatUnresolved(const profile::Profile& profile);

}  // namespace profiler::report
