// Reads traces in the trace event format (Chrome, Perfetto, ninjatracing, clang -ftime-trace, …):
// an array of events, or an object with such an array as "traceEvents".
//
//   {"ph":"P","name":"Profile",…}        begin of a CPU profile of V8
//   {"ph":"P","name":"ProfileChunk",…}   a piece of the CPU profile
//   {"ph":"B",…} {"ph":"E",…}            begin and end of a slice
//   {"ph":"X","dur":µs,…}                a whole slice
//
// A trace with CPU profiles, as Chrome's Performance panel saves it, yields their samples. Any
// other trace yields its slices: the slices that are open at a time are the stack at that time.
// Each slice counts for the time in which none of its callees was open, in ns of the event "time".

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/importers/profile_maker.h"

namespace profiler::importers {

// Reads a trace into `maker`. The array's end may be missing, as the format permits. Returns
// kDataLoss if the text is not JSON.
absl::Status ReadChromeTrace(std::string_view text, ProfileMaker& maker);

// True if a JSON text has members that only traces have.
bool LooksLikeChromeTrace(std::string_view text);

}  // namespace profiler::importers
