// Two recordings side by side, in the layout of `perf diff` (Linux 7.2):
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
// A row is of an image, by its name, and a symbol in it. The difference is in points, and left out
// where it is not one of a hundredth of a point, or the second recording does not have the row.

#pragma once

#include <cstdint>
#include <string>

#include "src/profile/profile.h"

namespace profiler::report {

// What the rows are ordered by: their share of the first recording, or how far the second differs.
enum class PairedOrder : uint8_t { kBaseline, kDifference };

// Each event that has samples in both, by its name. Pure; thread-safe.
std::string FormatPairedReport(const profile::Profile& before, const profile::Profile& after,
                               PairedOrder order);

}  // namespace profiler::report
