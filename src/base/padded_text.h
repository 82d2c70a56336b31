// Appends numbers and texts that are padded with blanks to a column's width, as printf does. Longer
// ones are appended whole.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace profiler {

// Appends a number in the format "%*u".
void AppendNumber(uint64_t value, size_t width, std::string& out);
// Appends a number in the format "%*lx".
void AppendHex(uint64_t value, size_t width, std::string& out);
void AppendRightAligned(std::string_view text, size_t width, std::string& out);
// Appends the text as AppendPrintable does.
void AppendLeftAligned(std::string_view text, size_t width, std::string& out);

}  // namespace profiler
