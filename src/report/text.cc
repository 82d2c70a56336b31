#include "src/report/text.h"

#include <charconv>
#include <system_error>

namespace profiler::report {

void AppendRightAligned(std::string_view text, size_t width, std::string& out) {
  if (text.size() < width) out.append(width - text.size(), ' ');
  out.append(text);
}

void AppendLeftAligned(std::string_view text, size_t width, std::string& out) {
  const size_t start = out.size();
  AppendSafe(text, out);
  const size_t printed = out.size() - start;
  if (printed < width) out.append(width - printed, ' ');
}

void AppendPercent(uint64_t part, uint64_t whole, size_t width, std::string& out) {
  const double percent =
      whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  char digits[40];  // 2^64 * 100 has 22 digits
  const auto end =
      std::to_chars(digits, digits + sizeof(digits) - 1, percent, std::chars_format::fixed, 2);
  *end.ptr = '%';
  AppendRightAligned({digits, static_cast<size_t>(end.ptr + 1 - digits)}, width, out);
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

void AppendSafe(std::string_view text, std::string& out) {
  const size_t start = out.size();
  out.append(text);
  for (size_t i = start; i < out.size(); ++i) {
    const auto byte = static_cast<unsigned char>(out[i]);
    if (byte < 0x20 || byte == 0x7f) out[i] = '?';
  }
}

void AppendFunctionName(const profile::Profile& profile, const Function& function,
                        std::string& out) {
  if (function.named()) {
    AppendSafe(profile.text(function.name), out);
    if (function.inlined) out += " (inlined)";
    return;
  }
  if (function.address != 0) out += "0x";
  AppendHex(function.address, 0, out);
}

}  // namespace profiler::report
