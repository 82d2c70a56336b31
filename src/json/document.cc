#include "src/json/document.h"

#include <string_view>

#include "absl/strings/str_format.h"
#include "src/base/text.h"
#include "src/base/utf8.h"

namespace profiler::json {
namespace {

constexpr int kVersion = 1;

// Escapes what terminals obey and JSON permits: DEL, the control characters of C1 and those that
// change the direction of writing. They stand in strings only.
std::string Escaped(const std::string& text) {
  std::string out;
  size_t copied = 0;
  for (size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool may_be_control = byte == 0x7f || byte == 0xc2 || byte == 0xe2;
    const Utf8Character character =
        may_be_control ? FirstCharacter(std::string_view(text).substr(at)) : Utf8Character{};
    if (character.size == 0 || !IsControl(character.code_point)) {
      ++at;
      continue;
    }
    out.append(text, copied, at - copied);
    absl::StrAppendFormat(&out, "\\u%04x", character.code_point);
    copied = at += character.size;
  }
  return copied == 0 ? text : out.append(text, copied, std::string::npos);
}

}  // namespace

Value Document(std::string_view view) {
  return {{"format", "profiler"}, {"version", kVersion}, {"view", view}};
}

std::string Text(const Value& document) {
  return Escaped(document.dump(1, ' ', false, Value::error_handler_t::replace)) + "\n";
}

std::string Line(const Value& document) {
  return Escaped(document.dump(-1, ' ', false, Value::error_handler_t::replace)) + "\n";
}

}  // namespace profiler::json
