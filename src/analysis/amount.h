// Prints sums of periods in the event's unit.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profiler::analysis {

// True if the event's periods are nanoseconds: events of clocks, and times off the CPU. Modifiers
// ("cpu-clock:u") do not matter.
bool IsTime(std::string_view event);

// Returns the unit of the event's amounts for programs: "ns" for times, else "count".
std::string_view UnitOf(std::string_view event);

// Returns "1.016 s", or "1234567" for events that are not times. With `sign`, amounts of 0 or more
// begin with '+'.
std::string AmountText(double amount, std::string_view event, bool sign = false);

// Returns the size of a page as perf prints it: "4K", "2M"; "N/A" for 0.
std::string PageSizeText(uint64_t bytes);

}  // namespace profiler::analysis
