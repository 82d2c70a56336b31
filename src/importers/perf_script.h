// Reads the text of `perf script`, of every version since 3.x, and of `profiler script`:
//
//   comm  pid/tid [cpu] seconds: period event: fields of a tracepoint        a sample
//   ⇥ffffffff9c2009e7 symbol+0xoffset (image)                                its frames, leaf first
//   ⇥    7f443c368f50 function (inlined)                                     … into the next frame
//     file.c:12                                                              the line of a frame
//                                                                            end of the sample
//
// pid or tid, cpu, seconds, period and offset may be missing, and a sample without a call chain has
// its frame on its own line. A name may contain spaces; the text after it shows where it ends.
// Lines that begin with '#' are perf's header and are skipped.

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/importers/profile_maker.h"

namespace profiler::importers {

// Reads samples into `maker`. Skips other lines, and counts them in a warning. Returns kDataLoss,
// with a line number, if there is no sample at all.
absl::Status ReadPerfScript(std::string_view text, ProfileMaker& maker);

// True if the first line with contents is the first line of a sample.
bool LooksLikePerfScript(std::string_view start);

}  // namespace profiler::importers
