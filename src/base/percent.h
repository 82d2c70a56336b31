// A part of a whole as a percentage.

#pragma once

#include <cstdint>

namespace profiler {

// Of nothing every part is 0 %.
inline double Percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace profiler
