// Explains why a filter keeps no sample.

#pragma once

#include <optional>
#include <string>

#include "src/analysis/filter.h"
#include "src/profile/profile.h"

namespace profiler::analysis {

// Returns text such as "none of 774 samples has command 'ngnix'; there are: nginx, ab". It names
// the first list of the filter that no sample matches, and the heaviest values of that kind.
// Returns nothing if a sample passes, or if the profile has no sample. Call it before KeepOnly.
// Linear in the rows.
std::optional<std::string> WhyNothingPasses(const profile::Profile& profile, const Filter& filter);

}  // namespace profiler::analysis
