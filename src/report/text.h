// Numbers, headings and symbols as perf prints them.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/report/functions.h"

namespace profiler::report {

// "%*.2f%%": two decimals, rounded as printf does, right-aligned to `width` with the sign.
void AppendPercent(uint64_t part, uint64_t whole, size_t width, std::string& out);
// "%*u"
void AppendNumber(uint64_t value, size_t width, std::string& out);
// "%*lx"
void AppendHex(uint64_t value, size_t width, std::string& out);
void AppendRightAligned(std::string_view text, size_t width, std::string& out);
void AppendLeftAligned(std::string_view text, size_t width, std::string& out);

inline constexpr size_t kAddressWidth = 16;  // hexadecimal digits of an address in a table

// '.' user code, 'k' the kernel's, 'H' a hypervisor's, 'u' and 'g' a guest's.
char LevelOf(profile::Mode mode);
// A function in a table: "[k] schedule", "[.] 0x0000000000001234".
void AppendSymbol(const profile::Profile& profile, const Function& function, std::string& out);

// A function in a call graph: its name, or "0x1234" ("0" for zero). Line breaks in names become
// '?': what a recording says must not look like lines of ours.
void AppendFunctionName(const profile::Profile& profile, const Function& function,
                        std::string& out);

}  // namespace profiler::report
