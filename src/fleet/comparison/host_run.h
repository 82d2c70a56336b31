// Converts a host's samples to a run, so that hosts can be compared
// (src/fleet/comparison/compare_hosts.h).

#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "src/fleet/query/source.h"
#include "src/fleet/segments/window.h"
#include "src/views/diff/run.h"

namespace profiler::fleet {

// Returns the samples and the value of each event in the windows, sorted by the event's name.
std::vector<Sum> SumsByEvent(std::span<const Window> windows);

// Returns the event's samples in a host's window, by function. Parts of a function that the
// compiler split off (f.cold, f.part.0) count as the function. Samples are assumed to be
// independent, because a window does not record their order. Takes time linear in the window and
// its rows' stacks.
diff::Run RunOfHost(const Window& window, std::string_view event);

}  // namespace profiler::fleet
