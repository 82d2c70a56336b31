// Describes an image of a profile to a symbolizer.

#pragma once

#include <optional>

#include "src/profile/profile.h"
#include "symbolize/symbolizer.h"

namespace profiler::profile {

// Returns the image's spec; nothing for the images of kinds kUnknown and kNoCode. A symbolizer that
// has named the profile already has the image.
std::optional<symbolize::ImageSpec> SpecOf(const Profile& profile, const Image& image);

}  // namespace profiler::profile
