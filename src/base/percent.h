// Computes percentages.

#pragma once

#include <cstdint>

namespace profiler {

// Returns `part` as a percentage of `whole`; 0 if `whole` is 0.
inline double Percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace profiler
