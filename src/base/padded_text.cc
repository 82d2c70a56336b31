#include "src/base/padded_text.h"

#include <charconv>

#include "src/base/text.h"

namespace profiler {

void AppendRightAligned(std::string_view text, size_t width, std::string& out) {
  if (text.size() < width) out.append(width - text.size(), ' ');
  out.append(text);
}

void AppendLeftAligned(std::string_view text, size_t width, std::string& out) {
  const size_t start = out.size();
  AppendPrintable(text, out);
  const size_t printed = out.size() - start;
  if (printed < width) out.append(width - printed, ' ');
}

void AppendNumber(uint64_t value, size_t width, std::string& out) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value);
  AppendRightAligned({digits, static_cast<size_t>(end.ptr - digits)}, width, out);
}

void AppendHex(uint64_t value, size_t width, std::string& out) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value, 16);
  AppendRightAligned({digits, static_cast<size_t>(end.ptr - digits)}, width, out);
}

}  // namespace profiler
