// Formats text and numbers for users.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/text.h"

namespace profiler {

// Returns foreign text without control characters (AppendPrintable).
inline std::string Printable(std::string_view text) {
  std::string printable;
  AppendPrintable(text, printable);
  return printable;
}

// Separates groups of three digits before the decimal point: "1234567.5" → "1,234,567.5".
inline std::string Grouped(std::string digits) {
  const size_t end = std::min(digits.find('.'), digits.size());
  for (size_t i = end; i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}
inline std::string Grouped(uint64_t number) { return Grouped(std::to_string(number)); }

}  // namespace profiler
