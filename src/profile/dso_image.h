// Finds the image of the symbolizer for a DSO of a profile.

#pragma once

#include <optional>

#include "src/profile/profile.h"
#include "symbolize/symbolizer.h"

namespace profiler::profile {

// Returns the DSO's image; nothing for the DSO called "[unknown]". A symbolizer that has named the
// profile already has the image.
std::optional<symbolize::ImageSpec> ImageOf(const Profile& profile, const Dso& dso);

}  // namespace profiler::profile
