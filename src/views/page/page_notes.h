// Notes below a page: losses of the recordings, code without a name, and light parts that are
// merged.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/views/page/bounds.h"
#include "src/views/page/call_paths.h"

namespace profiler::page {

// Returns one line per note, in clean UTF-8: first about each side, then about the page.
// Thread-safe.
std::vector<std::string> NotesOf(std::span<const Side> sides, const Bounds& bounds,
                                 const Bounded& bounded);

}  // namespace profiler::page
