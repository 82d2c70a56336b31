#include "src/machine/events/function_marks.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

namespace profiler::events {
namespace {

// Marks a function by its address: kFunctionMark, sixteen digits, kFunctionEnd. libtraceevent
// appends "+0x0" if the format asks for the distance.
constexpr char kFunctionMark = '\x01', kFunctionEnd = '\x02';
constexpr size_t kDigits = 16;
constexpr std::string_view kNoDistance = "+0x0";

}  // namespace

void AppendFunctionMark(uint64_t address, bool with_offset, std::string* out) {
  absl::StrAppendFormat(out, "%c%016x%c", kFunctionMark, address, kFunctionEnd);
  if (with_offset) *out += kNoDistance;
}

void AppendWithNames(std::string_view text, const FunctionName& name, std::string* out) {
  for (size_t at = 0; at < text.size();) {
    const size_t mark = std::min(text.find(kFunctionMark, at), text.size());
    out->append(text.substr(at, mark - at));
    at = mark;
    if (at == text.size()) return;
    uint64_t address = 0;
    const std::string_view digits = text.substr(at + 1, kDigits);
    const bool is_mark =
        text.size() > at + 1 + kDigits && text[at + 1 + kDigits] == kFunctionEnd &&
        absl::SimpleHexAtoi(absl::string_view(digits.data(), digits.size()), &address);
    if (!is_mark) {
      *out += text[at++];
      continue;
    }
    at += kDigits + 2;
    const bool with_offset = text.substr(at).starts_with(kNoDistance);
    if (with_offset) at += kNoDistance.size();
    const std::string known = name ? name(address, with_offset) : std::string();
    *out += known.empty() ? absl::StrFormat("0x%x", address) : known;
  }
}

}  // namespace profiler::events
