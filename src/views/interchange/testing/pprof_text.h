// Converts a pprof profile to lines of text, for tests.

#pragma once

#include <string>
#include <string_view>

namespace profiler::exports {

// Returns the lines of a profile that `Pprof` wrote:
//
//   types samples/count cpu-clock/nanoseconds
//   2 2000 read<work<main pid=7 tid=8 thread=app comm=app
//   mapping 0x1000-0x3000+0x0 /usr/bin/app build-id 0102
std::string PprofText(std::string_view gzipped);

}  // namespace profiler::exports
