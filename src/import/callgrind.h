// Callgrind's profiles (https://valgrind.org/docs/manual/cl-format.html), as callgrind, cachegrind,
// Xdebug and many converters write them for KCachegrind:
//
//   events: Ir Dr            what the numbers of a line count
//   ob=/bin/app  fl=app.c  fn=main
//   15 400 20                line, and a cost of each event
//   cfn=work                 a call: the function, how often, and what it cost with its callees
//   calls=3 20
//   16 900 10
//
// Such a file has no stacks: it says who called whom, not who called the caller then. So each
// function has its own cost, and no callers. A warning says so.

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/import/profile_maker.h"

namespace profiler::import {

// Lines that are not understood are passed over, and a warning counts them. kDataLoss where no
// line says what is counted.
absl::Status ReadCallgrind(std::string_view text, ProfileMaker& maker);

// True if the first lines look like such a file.
bool LooksLikeCallgrind(std::string_view start);

}  // namespace profiler::import
