// Counts whole, cut and broken call chains from the rows of a profile.

#pragma once

#include "src/profile/profile.h"

namespace profiler::profile {

// Computes `by_kernel` and `broken` of profile->chains from the rows. A chain is broken if the
// kernel followed a register that was not a frame pointer. Costs one pass over the stacks.
void CountBrokenChains(Profile* profile);

// Computes the other counts of profile->chains from the rows, for profiles whose recorder has not
// reported them yet. Which whole chains were guessed or read later is unknown then: all count as
// complete. Samples without callers do not count. Costs one pass over the stacks.
void CountUnwoundChains(Profile* profile);

}  // namespace profiler::profile
