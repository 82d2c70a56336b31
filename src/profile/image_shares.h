// Computes the share of samples that contain each image.
//
// Private to this package.

#pragma once

#include <vector>

#include "src/profile/profile.h"

namespace profiler::profile {

// Returns for each image the share of samples, from 0 to 1, that have it anywhere on their stack.
// Costs a pass over the stacks; for each stack it goes up to the first caller in the same image.
std::vector<double> SharesByImage(const Profile& profile);

}  // namespace profiler::profile
