// Converts windows to one profile, which every view can show.
//
//   thread          one per service and program; its ids are made up
//   sample          one per row, at the time when its window began
//   frame           one per function, image, type and build-id; its address is made up

#pragma once

#include <span>

#include "src/fleet/segments/window.h"
#include "src/profile/profile.h"

namespace profiler::fleet {

// Returns the profile. Takes time linear in the windows. Thread-safe.
profile::Profile ProfileOf(std::span<const Window> windows);

}  // namespace profiler::fleet
