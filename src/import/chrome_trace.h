// Traces in the trace event format (Chrome, Perfetto, ninjatracing, clang -ftime-trace, …): an
// array of events, or an object with such an array as "traceEvents".
//
//   {"ph":"P","name":"Profile",…} {"ph":"P","name":"ProfileChunk",…}   a CPU profile of V8 in
//   pieces
//   {"ph":"B",…} {"ph":"E",…}                                         a slice begins, and ends
//   {"ph":"X","dur":µs,…}                                             a whole slice
//
// A trace with CPU profiles, as Chrome's Performance panel saves it, has their samples. Any other
// trace has its slices: the open ones are the stack of their time, and each has the time in which
// none of its callees was open, as nanoseconds of the event "time".

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/import/profile_maker.h"

namespace profiler::import {

// The array's end may be missing, as the format permits. kDataLoss where the text is not JSON.
absl::Status ReadChromeTrace(std::string_view text, ProfileMaker& maker);

}  // namespace profiler::import
