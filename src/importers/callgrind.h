// Reads Callgrind's profiles (https://valgrind.org/docs/manual/cl-format.html), as callgrind,
// cachegrind, Xdebug and many converters write them for KCachegrind:
//
//   events: Ir Dr            the counted events, in the order of the costs in a line
//   ob=/bin/app  fl=app.c  fn=main
//   15 400 20                line number, and a cost per event
//   cfn=work                 a call: the function, how often, and its cost including callees
//   calls=3 20
//   16 900 10
//
// A file of this format has no stacks. It has pairs of caller and callee, but does not say who
// called the caller. So each function gets its own cost and no callers. A warning says so.

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/importers/profile_maker.h"

namespace profiler::importers {

// Reads a profile into `maker`. Skips lines that it does not understand, and counts them in a
// warning. Returns kDataLoss if no line names the counted events.
absl::Status ReadCallgrind(std::string_view text, ProfileMaker& maker);

// True if the first lines look like a file of this format.
bool LooksLikeCallgrind(std::string_view start);

}  // namespace profiler::importers
