// In how many samples each image is.
//
// Private to this package.

#pragma once

#include <vector>

#include "src/profile/profile.h"

namespace profiler::profile {

// By DsoId: the samples that have the DSO anywhere on their stack, of all samples, from 0 to 1.
// Cost: a pass over the stacks, for each as far up as its first caller from the same DSO.
std::vector<double> SharesOfDsos(const Profile& profile);

}  // namespace profiler::profile
