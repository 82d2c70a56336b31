// Windows as one profile, which every view can show.
//
//   thread          a service's program; its number is made up
//   sample          a row, at the time when its window began
//   frame           an address that is made up, of the function that it is named by

#pragma once

#include <span>

#include "src/fleet/window.h"
#include "src/profile/profile.h"

namespace profiler::fleet {

// Linear in the windows. Thread-safe.
profile::Profile ProfileOf(std::span<const Window> windows);

}  // namespace profiler::fleet
