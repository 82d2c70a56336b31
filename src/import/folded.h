// FlameGraph's folded stacks, as stackcollapse-*.pl, inferno, py-spy, async-profiler, bpftrace and
// `profiler folded` write them:
//
//   process;outermost;…;leaf 12
//   process;outermost;…;leaf 12 15      two columns, of difffolded.pl: before and after
//
// The first name is taken for the process, for that is what stands there in the files of FlameGraph
// and of this program. The count follows the last space, so names may have spaces. Whatever a name
// ends with (_[k], _[i], _[j]) stays part of it; code whose name ends with _[k] is the kernel's.
// Fractions are rounded, and a warning says how many.

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/import/profile_maker.h"

namespace profiler::import {

// Lines that end with no number are passed over, and a warning counts them. kDataLoss, with the
// number of a line, where no line has one.
absl::Status ReadFolded(std::string_view text, ProfileMaker& maker);

// Whether the first lines look like folded stacks.
bool LooksFolded(std::string_view start);

}  // namespace profiler::import
