#include "src/views/report/cell_text.h"

#include <charconv>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "src/base/padded_text.h"
#include "src/base/percent.h"
#include "src/base/text.h"

namespace profiler::report {

using profile::Mode;
using profile::Profile;

char LevelOf(Mode mode) { return "..kHug."[static_cast<size_t>(mode)]; }

void AppendPercent(uint64_t part, uint64_t whole, size_t width, std::string& out) {
  char digits[40];  // 2^64 * 100 has 22 digits
  const auto end = std::to_chars(digits, digits + sizeof(digits) - 1, Percent(part, whole),
                                 std::chars_format::fixed, 2);
  *end.ptr = '%';
  AppendRightAligned({digits, static_cast<size_t>(end.ptr + 1 - digits)}, width, out);
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
