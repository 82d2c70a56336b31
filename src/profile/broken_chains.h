// Counts the chains that the kernel made by following what was no frame pointer.
//
// Private to this package.

#pragma once

#include "src/profile/profile.h"

namespace profiler::profile {

// Sets `by_kernel` and `broken` of profile->chains by the rows. Cost: a pass over the stacks.
void CountBrokenChains(Profile* profile);

}  // namespace profiler::profile
