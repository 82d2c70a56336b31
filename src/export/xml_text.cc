#include "src/export/xml_text.h"

#include <cstdint>

namespace profiler::exports {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Length by the first byte; 0: none begins so.
size_t SequenceLength(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  if (first >= 0xf0 && first < 0xf5) return 4;
  return 0;
}

// Bytes of the allowed character at the start of `text`, 0 if there is none.
size_t AllowedCharacter(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t length = SequenceLength(first);
  if (length == 1) return first >= 0x20 && first != 0x7f ? 1 : 0;
  if (length == 0 || text.size() < length) return 0;
  uint32_t code = first & (0x7fU >> length);
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  const bool control = code >= 0x80 && code < 0xa0;
  const bool refused = code == 0xfffe || code == 0xffff || code > 0x10ffff;
  return overlong || surrogate || control || refused ? 0 : length;
}

}  // namespace

std::string CleanUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = AllowedCharacter(text);
    out += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

size_t CodePoints(std::string_view clean) {
  size_t count = 0;
  for (char c : clean) count += !IsContinuation(c);
  return count;
}

size_t BytesOfCodePoints(std::string_view clean, size_t count) {
  size_t at = 0;
  for (; at < clean.size(); ++at) {
    if (!IsContinuation(clean[at]) && count-- == 0) break;
  }
  return at;
}

void AppendXml(std::string& out, std::string_view clean) {
  for (char c : clean) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
}

void AppendJsonInXml(std::string& out, std::string_view clean) {
  std::string json = "\"";
  for (char c : clean) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  json += '"';
  for (char c : json) {
    if (c == '"') {
      out += c;  // needs no escape in content, and there are many
    } else {
      AppendXml(out, std::string_view(&c, 1));
    }
  }
}

}  // namespace profiler::exports
