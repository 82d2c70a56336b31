// Counts chains that are broken because the kernel followed a register that was not a frame
// pointer.
//
// Private to this package.

#pragma once

#include "src/profile/profile.h"

namespace profiler::profile {

// Computes `by_kernel` and `broken` of profile->chains from the rows. Costs one pass over the
// stacks.
void CountBrokenChains(Profile* profile);

}  // namespace profiler::profile
