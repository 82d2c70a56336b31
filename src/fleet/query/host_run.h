// A host as one run among others that it is compared with (src/diff/compare_hosts.h).

#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "src/diff/run.h"
#include "src/fleet/query/source.h"
#include "src/fleet/window.h"

namespace profiler::fleet {

// What each event has in the windows, by the event's name.
std::vector<Sum> SumsByEvent(std::span<const Window> windows);

// The event's samples of a host's window, by function; what a compiler made of one function
// (f.cold, f.part.0) is that function. Samples are taken for independent ones: in which order they
// were taken, a window does not say. Linear in the window and its rows' stacks.
diff::Run RunOfHost(const Window& window, std::string_view event);

}  // namespace profiler::fleet
