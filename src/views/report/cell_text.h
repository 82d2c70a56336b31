// Formats percentages and symbols as perf does.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/views/report/function_table.h"

namespace profiler::report {

// Appends a percentage in the format "%*.2f%%": two decimals, rounded as printf does, and
// right-aligned to `width`, which includes the percent sign.
void AppendPercent(uint64_t part, uint64_t whole, size_t width, std::string& out);

inline constexpr size_t kAddressWidth = 16;  // hexadecimal digits of an address in a table
inline constexpr size_t kPercentWidth = 8;   // width of the column "Overhead"
inline constexpr size_t kPidWidth = 7;       // width of the pid in "Pid:Command"

// Returns perf's letter: '.' user, 'k' kernel, 'H' hypervisor, 'u' and 'g' guest.
char LevelOf(profile::Mode mode);
// Appends a function in a table: "[k] schedule", "[.] 0x0000000000001234".
void AppendSymbol(const profile::Profile& profile, const Function& function, std::string& out);

// Appends a function in a call graph: its name, or "0x1234" ("0" for zero). Line breaks in names
// become '?', so that a name cannot look like a line of the report.
void AppendFunctionName(const profile::Profile& profile, const Function& function,
                        std::string& out);

}  // namespace profiler::report
