// Which image of the symbolizer a DSO of a profile is, and the other way round.

#pragma once

#include <optional>

#include "src/profile/profile.h"
#include "symbolize/symbolizer.h"

namespace profiler::profile {

DsoKind DsoKindOf(symbolize::ImageKind kind);

// None for the DSO called "[unknown]". A symbolizer that named the profile has the image already.
std::optional<symbolize::ImageSpec> ImageOf(const Profile& profile, const Dso& dso);

}  // namespace profiler::profile
