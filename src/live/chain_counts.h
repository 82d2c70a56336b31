// Counts whole, cut and broken call chains from the rows of a profile.

#pragma once

#include "src/profile/profile.h"

namespace profiler::live {

// Computes profile->chains from the rows, because a recorder reports its own counts only at its
// end. Which whole chains were guessed, or read later, is unknown then: all count as complete.
// Unwound samples without callers do not count. Costs one pass over the stacks.
void CountChains(profile::Profile* profile);

}  // namespace profiler::live
