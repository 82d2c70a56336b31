// Reads FlameGraph's folded stacks, as stackcollapse-*.pl, inferno, py-spy, async-profiler,
// bpftrace and `profiler folded` write them:
//
//   process;outermost;…;leaf 12
//   process;outermost;…;leaf 12 15      two columns of difffolded.pl: counts before and after
//
// The first name counts as the name of the process, as in the files of FlameGraph and of this
// program. The count follows the last space, so names may contain spaces. Suffixes of names (_[k],
// _[i], _[j]) stay part of the name. A name that ends with _[k] belongs to the kernel's code.
// Fractions are rounded, and a warning counts them.

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/importers/profile_maker.h"

namespace profiler::importers {

// Reads stacks into `maker`. Skips lines that do not end with a number, and counts them in a
// warning. Returns kDataLoss, with a line number, if no line ends with a number.
absl::Status ReadFolded(std::string_view text, ProfileMaker& maker);

// True if the first lines look like folded stacks.
bool LooksFolded(std::string_view start);

}  // namespace profiler::importers
