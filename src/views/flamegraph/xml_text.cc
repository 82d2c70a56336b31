#include "src/views/flamegraph/xml_text.h"

#include <cstdint>

#include "src/base/text.h"
#include "src/base/utf8.h"

namespace profiler::exports {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

bool IsAllowed(uint32_t code_point) {
  return !IsControl(code_point) && code_point != 0xfffe && code_point != 0xffff;
}

}  // namespace

std::string CleanUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character first = FirstCharacter(text);
    const bool allowed = first.size != 0 && IsAllowed(first.code_point);
    out += allowed ? text.substr(0, first.size) : kReplacement;
    text.remove_prefix(allowed ? first.size : 1);
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
      out += c;  // the content of an element may contain quotes
    } else {
      AppendXml(out, std::string_view(&c, 1));
    }
  }
}

}  // namespace profiler::exports
