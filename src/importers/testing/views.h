// Views of imported text, for tests. Like real views they read a recording from a file.

#pragma once

#include <string>
#include <string_view>

#include "src/importers/write_profile.h"
#include "src/profile/naming/load_profile.h"
#include "src/profile/profile.h"

namespace profiler::importers {

// Makes a file with this text in the test's directory.
std::string FileWith(std::string_view bytes);

// Loads the profile of a file; fails the test if it has none.
naming::LoadedProfile Load(const std::string& path, const naming::LoadOptions& options = {});

// Returns the folded stacks of a profile, with unabbreviated names. `event` is the name of an
// event; empty: the first event.
std::string FoldedOf(const profile::Profile& profile, std::string_view event = {});
// Returns the folded stacks with names as stackcollapse-perf.pl prints them.
std::string CollapsedOf(const profile::Profile& profile);

// Returns the samples and the period of each event: "cpu 3/100, alloc 1/8".
std::string EventsOf(const profile::Profile& profile);

// Returns one line per row, sorted: "root@image;…;leaf@image file:line 3". A '^' marks inlined
// functions.
std::string FramesOf(const profile::Profile& profile);

// Returns the error of loading a file.
std::string ErrorOf(const std::string& path);

}  // namespace profiler::importers
