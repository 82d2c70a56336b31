// Formats two recordings side by side, in the layout of `perf diff` (Linux 7.2):
//
//   # Event 'cpu-clock'
//   #
//   # Baseline  Delta Abs  Shared Object      Symbol
//   # ........  .........  .................  ............................
//   #
//       13.68%     +3.70%  app                [.] parse
//                  +0.03%  app                [.] new_function
//        0.06%             [kernel.kallsyms]  [k] memset_orig
//
// A row is a symbol in an image, by name. The difference is in percentage points. It is omitted if
// it is below 0.01 points, or if the second recording does not have the row.

#pragma once

#include <cstdint>
#include <string>

#include "src/profile/profile.h"

namespace profiler::report {

// Order of the rows: by share in the first recording, or by size of the difference.
enum class PairedOrder : uint8_t { kBaseline, kDifference };

// Formats a table for each event that has samples in both recordings, matched by name. Pure;
// thread-safe.
std::string FormatPairedReport(const profile::Profile& before, const profile::Profile& after,
                               PairedOrder order);

}  // namespace profiler::report
