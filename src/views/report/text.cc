#include "src/views/report/text.h"

#include <charconv>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "src/base/percent.h"
#include "src/base/text.h"

namespace profiler::report {

using profile::Mode;
using profile::Profile;

char LevelOf(Mode mode) { return "..kHug."[static_cast<size_t>(mode)]; }

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

void AppendPercent(uint64_t part, uint64_t whole, size_t width, std::string& out) {
  char digits[40];  // 2^64 * 100 has 22 digits
  const auto end = std::to_chars(digits, digits + sizeof(digits) - 1, Percent(part, whole),
                                 std::chars_format::fixed, 2);
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

void AppendSymbol(const Profile& profile, const Function& function, std::string& out) {
  const char level[] = {'[', LevelOf(function.mode), ']', ' '};
  out.append(level, sizeof(level));
  if (function.named()) {
    AppendPrintable(profile.text(function.name), out);
    if (function.inlined) out += " (inlined)";
    return;
  }
  if (function.address != 0) out += "0x";
  absl::StrAppend(&out, absl::Hex(function.address, absl::kZeroPad16));
}

void AppendFunctionName(const profile::Profile& profile, const Function& function,
                        std::string& out) {
  if (function.named()) {
    AppendPrintable(profile.text(function.name), out);
    if (function.inlined) out += " (inlined)";
    return;
  }
  if (function.address != 0) out += "0x";
  AppendHex(function.address, 0, out);
}

}  // namespace profiler::report
