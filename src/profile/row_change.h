// Changes of the sums in a profile whose rows are added to while it is shown.

#pragma once

#include <cstdint>

namespace profiler::profile {

// A difference of a row's sums. A negative difference is the complement that wraps around, so it is
// added in the same way.
struct RowChange {
  uint32_t row = 0;  // index in Profile::rows
  uint64_t count = 0;
  uint64_t period = 0;

  RowChange operator-() const { return {.row = row, .count = -count, .period = -period}; }
};

}  // namespace profiler::profile
