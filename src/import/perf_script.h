// The text of `perf script`, of every version since 3.x, and of `profiler script`:
//
//   comm  pid/tid [cpu] seconds: period event: fields of a tracepoint        a sample
//   ⇥ffffffff9c2009e7 symbol+0xoffset (image)                                its frames, leaf first
//   ⇥    7f443c368f50 function (inlined)                                     … into the next one
//     file.c:12                                                              the line of a frame
//                                                                            its end
//
// pid or tid, cpu, seconds, period and offset may be missing, and a sample without a call chain has
// its frame on its own line. A name has spaces where it has some; what follows it says where it
// ends. Lines that begin with '#' are the header of perf, and passed over.

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/import/profile_maker.h"

namespace profiler::import {

// Lines that are none of these are passed over, and a warning counts them. kDataLoss, with the
// number of a line, where there is no sample at all.
absl::Status ReadPerfScript(std::string_view text, ProfileMaker& maker);

// Whether the first line that says something is one of a sample.
bool LooksLikePerfScript(std::string_view start);

}  // namespace profiler::import
