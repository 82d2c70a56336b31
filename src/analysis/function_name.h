// Names the function at a frame, for texts of records that contain the function's address.

#pragma once

#include <string>

#include "src/profile/profile.h"

namespace profiler::analysis {

// Returns "schedule", or "schedule+0x1a" with `with_offset`; "" if the function is unknown.
std::string FunctionName(const profile::Profile& profile, profile::FrameId frame, bool with_offset);

}  // namespace profiler::analysis
