// What a page does not tell by itself: what recordings lost, what has no name, and what is shown
// together because it is light.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/page/bounds.h"
#include "src/page/call_paths.h"

namespace profiler::page {

// One line each, for a person; of each side, then of the page. Clean UTF-8. Thread-safe.
std::vector<std::string> NotesOf(std::span<const Side> sides, const Bounds& bounds,
                                 const Bounded& bounded);

}  // namespace profiler::page
