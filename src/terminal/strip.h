// A strip of bars in one row, such as the CPU use over time.

#pragma once

#include <span>
#include <string>

namespace profiler::terminal {

// Returns one bar per value, one column each. Heights are relative to `highest`; every value above
// 0 is visible, and 0 is a blank.
std::string StripOf(std::span<const double> values, double highest);

}  // namespace profiler::terminal
