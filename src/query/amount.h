// Sums of periods in the unit that people say them in.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profiler::query {

// Whether the event's periods are nanoseconds: of clocks, and of times off the CPU. Modifiers
// ("cpu-clock:u") do not matter.
bool IsTime(std::string_view event);

// What amounts of the event are in, as programs read it: "ns" of times, else "count".
std::string_view UnitOf(std::string_view event);

// "1.016 s", or "1234567" of events that are no times. With `sign` a '+' where it is not negative.
std::string AmountText(double amount, std::string_view event, bool sign = false);

// The size of a page as perf has it: "4K", "2M"; "N/A" for 0.
std::string PageSizeText(uint64_t bytes);

}  // namespace profiler::query
