#include "src/base/json_escape.h"

#include <cstddef>
#include <string_view>

#include "absl/strings/str_format.h"
#include "src/base/text.h"
#include "src/base/utf8.h"

namespace profiler {

std::string EscapeControls(std::string json) {
  std::string out;
  size_t copied = 0;
  for (size_t at = 0; at < json.size();) {
    const auto byte = static_cast<unsigned char>(json[at]);
    const bool may_be_control = byte == 0x7f || byte == 0xc2 || byte == 0xe2;
    const Utf8Character character =
        may_be_control ? FirstCharacter(std::string_view(json).substr(at)) : Utf8Character{};
    if (character.size == 0 || !IsControl(character.code_point)) {
      ++at;
      continue;
    }
    out.append(json, copied, at - copied);
    absl::StrAppendFormat(&out, "\\u%04x", character.code_point);
    copied = at += character.size;
  }
  return copied == 0 ? json : out.append(json, copied, std::string::npos);
}

}  // namespace profiler
