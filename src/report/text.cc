#include "src/report/text.h"

#include <array>
#include <charconv>
#include <cstring>
#include <system_error>

#include "src/base/percent.h"
#include "src/base/text.h"

namespace profiler::report {

using profile::Mode;
using profile::Profile;

namespace {

// Two digits a byte.
constexpr auto kHexOfBytes = [] {
  std::array<char, 2 * 256> digits{};
  for (size_t i = 0; i < digits.size(); ++i) {
    digits[i] = "0123456789abcdef"[i % 2 == 0 ? i / 32 : i / 2 % 16];
  }
  return digits;
}();

}  // namespace

std::string_view Heading(SortKey key) {
  switch (key) {
    case SortKey::kPid:
      return "    Pid:Command";
    case SortKey::kTid:
      return "    Tid:Command";
    case SortKey::kTgid:
      return "   Tgid:Command";
    case SortKey::kComm:
      return "Command";
    case SortKey::kDso:
      return "Shared Object";
    case SortKey::kSymbol:
      return "Symbol";
    case SortKey::kCpu:
      return "CPU";
    case SortKey::kSrcline:
      return "Source:Line";
    case SortKey::kSrcfile:
      return "Source File";
    case SortKey::kSymoff:
      return "Symbol Offset";
    case SortKey::kSymbolFrom:
      return "Source Symbol";
    case SortKey::kSymbolTo:
      return "Target Symbol";
    case SortKey::kDsoFrom:
      return "Source Shared Object";
    case SortKey::kDsoTo:
      return "Target Shared Object";
    case SortKey::kMispredict:
      return "Branch Mispredicted";
    case SortKey::kCycles:
      return "Basic Block Cycles";
  }
  return "";
}

char LevelOf(Mode mode) {
  switch (mode) {
    case Mode::kUser:
      return '.';
    case Mode::kKernel:
      return 'k';
    case Mode::kHypervisor:
      return 'H';
    case Mode::kGuestUser:
      return 'u';
    case Mode::kGuestKernel:
      return 'g';
    case Mode::kUnknown:
      return '.';
  }
  return '.';
}

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
  char digits[kAddressWidth];
  for (size_t i = 0; i < kAddressWidth; i += 2) {
    const size_t byte = function.address >> 4 * (kAddressWidth - 2 - i) & 0xff;
    std::memcpy(digits + i, &kHexOfBytes[2 * byte], 2);
  }
  out.append(digits, kAddressWidth);
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
