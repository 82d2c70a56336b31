// Views of imported text, for tests: the whole way that a view goes, by a recording in a file.

#pragma once

#include <string>
#include <string_view>

#include "src/import/write_profile.h"
#include "src/naming/load_profile.h"
#include "src/profile/profile.h"

namespace profiler::import {

// A file with this text, in the folder of the test.
std::string FileWith(std::string_view bytes);

// The profile that views of the file have; a failed expectation where they have none.
naming::LoadedProfile Load(const std::string& path, const naming::LoadOptions& options = {});

// Its folded stacks, with whole names. `event`: by name; empty: the first.
std::string FoldedOf(const profile::Profile& profile, std::string_view event = {});
// The same with names as stackcollapse-perf.pl prints them.
std::string CollapsedOf(const profile::Profile& profile);

// "cpu 3/100, alloc 1/8": of each event, samples and period.
std::string EventsOf(const profile::Profile& profile);

// "root@image;…;leaf@image file:line 3", a line a row, sorted. Inlined functions have a '^'.
std::string FramesOf(const profile::Profile& profile);

// The error of loading it.
std::string ErrorOf(const std::string& path);

}  // namespace profiler::import
