#include "src/fleet/clickhouse/sql_text.h"

#include "absl/strings/str_format.h"

namespace profiler::fleet::clickhouse {
namespace {

std::string Between(char quote, std::string_view text) {
  std::string quoted(1, quote);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      absl::StrAppendFormat(&quoted, "\\x%02X", byte);
    } else {
      quoted += c;
    }
  }
  quoted += quote;
  return quoted;
}

}  // namespace

std::string Quoted(std::string_view text) { return Between('\'', text); }

std::string QuotedName(std::string_view name) { return Between('`', name); }

std::string QuotedPattern(std::string_view pattern) {
  std::string like;
  for (const char c : pattern) {
    if (c == '*') {
      like += '%';
      continue;
    }
    if (c == '%' || c == '_' || c == '\\') like += '\\';
    like += c;
  }
  return Quoted(like);
}

}  // namespace profiler::fleet::clickhouse
