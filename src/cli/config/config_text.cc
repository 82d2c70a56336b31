#include "src/cli/config/config_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/base/text.h"

namespace profiler::config {
namespace {

bool IsOfName(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-'; }
bool IsOfKey(char c) { return IsOfName(c) || c == '_'; }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  absl::StatusOr<std::vector<Setting>> Read() {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
    while (true) {
      SkipBlanks();
      if (rest_.empty()) return std::move(settings_);
      const char next = rest_.front();
      if (next == '\n') {
        TakeLineEnd();
      } else if (next == '#' || next == ';') {
        SkipComment();
      } else if (next == '[') {
        PROFILER_RETURN_IF_ERROR(ReadSection());
      } else {
        PROFILER_RETURN_IF_ERROR(ReadSetting());
      }
    }
  }

 private:
  absl::Status Malformed(std::string_view why) const {
    return absl::InvalidArgumentError(absl::StrCat(line_, ": ", View(why)));
  }

  void TakeLineEnd() {
    rest_.remove_prefix(1);
    ++line_;
  }
  void SkipBlanks() {
    while (!rest_.empty() && IsBlank(rest_.front())) rest_.remove_prefix(1);
  }
  void SkipComment() { rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size())); }

  template <class Belongs>
  std::string TakeWhile(Belongs belongs) {
    size_t size = 0;
    while (size < rest_.size() && belongs(rest_[size])) ++size;
    std::string taken(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return taken;
  }

  // [section] or [section "subsection"]
  absl::Status ReadSection() {
    rest_.remove_prefix(1);
    SkipBlanks();
    std::string name = TakeWhile([](char c) { return IsOfKey(c) || c == '.'; });
    if (name.empty()) return Malformed("a section has no name: write [NAME]");
    section_ = absl::AsciiStrToLower(name);
    SkipBlanks();
    if (rest_.starts_with('"')) {
      rest_.remove_prefix(1);
      PROFILER_RETURN_IF_ERROR(ReadSubsection());
      SkipBlanks();
    }
    if (!rest_.starts_with(']')) {
      return Malformed(absl::StrCat("the section [", section_, " is not closed by ]"));
    }
    rest_.remove_prefix(1);
    return absl::OkStatus();
  }

  absl::Status ReadSubsection() {
    section_ += '.';
    while (!rest_.empty() && rest_.front() != '\n') {
      char next = Take();
      if (next == '"') return absl::OkStatus();
      if (next == '\\' && !rest_.empty() && rest_.front() != '\n') next = Take();
      section_ += next;
    }
    return Malformed("the name of a section has no closing quote");
  }

  absl::Status ReadSetting() {
    Setting setting{.key = {}, .value = "true", .line = line_};
    const std::string name = TakeWhile(IsOfKey);
    if (name.empty()) return Malformed("no key: a line is [SECTION], KEY = VALUE or # COMMENT");
    if (section_.empty()) {
      return Malformed(absl::StrCat("the key '", name, "' stands before the first [SECTION]"));
    }
    setting.key = absl::StrCat(section_, ".", absl::AsciiStrToLower(name));
    SkipBlanks();
    if (rest_.starts_with('=')) {
      rest_.remove_prefix(1);
      SkipBlanks();
      setting.value.clear();
      PROFILER_RETURN_IF_ERROR(ReadValue(&setting.value));
    } else if (!rest_.empty() && rest_.front() != '\n' && rest_.front() != '#' &&
               rest_.front() != ';') {
      return Malformed(absl::StrCat("the key '", name, "' is not followed by ="));
    }
    settings_.push_back(std::move(setting));
    return absl::OkStatus();
  }

  // Reads up to the end of the line, which a backslash joins to the next one. Blanks at the end
  // count only in quotes.
  absl::Status ReadValue(std::string* value) {
    size_t end = 0;  // size of the value without blanks at its end
    bool is_quoted = false;
    while (!rest_.empty() && rest_.front() != '\n') {
      if (!is_quoted && (rest_.front() == '#' || rest_.front() == ';')) {
        SkipComment();
        break;
      }
      const char next = Take();
      if (next == '"') {
        is_quoted = !is_quoted;
        end = value->size();
      } else if (next == '\\') {
        PROFILER_RETURN_IF_ERROR(ReadEscape(value));
        end = value->size();
      } else {
        *value += next;
        if (is_quoted || !IsBlank(next)) end = value->size();
      }
    }
    if (is_quoted) return Malformed("a value has no closing quote");
    value->resize(end);
    return absl::OkStatus();
  }

  absl::Status ReadEscape(std::string* value) {
    if (rest_.starts_with("\r\n")) rest_.remove_prefix(1);
    if (rest_.starts_with('\n')) {
      TakeLineEnd();
      return absl::OkStatus();
    }
    const char next = rest_.empty() ? '\0' : Take();
    switch (next) {
      case '\\':
      case '"':
        *value += next;
        return absl::OkStatus();
      case 'n':
        *value += '\n';
        return absl::OkStatus();
      case 't':
        *value += '\t';
        return absl::OkStatus();
      case 'b':
        *value += '\b';
        return absl::OkStatus();
      default:
        return Malformed(
            "a backslash in a value begins none of \\\\ \\\" \\n \\t \\b: write \\\\ for a "
            "backslash");
    }
  }

  char Take() {
    const char next = rest_.front();
    rest_.remove_prefix(1);
    return next;
  }

  std::string_view rest_;
  size_t line_ = 1;
  std::string section_;
  std::vector<Setting> settings_;
};

}  // namespace

absl::StatusOr<std::vector<Setting>> ParseConfig(std::string_view text) {
  return Reader(text).Read();
}

absl::StatusOr<bool> ParseSwitch(std::string_view text) {
  for (const char* const word : {"true", "yes", "on", "1"}) {
    if (absl::EqualsIgnoreCase(View(text), word)) return true;
  }
  for (const char* const word : {"false", "no", "off", "0", ""}) {
    if (absl::EqualsIgnoreCase(View(text), word)) return false;
  }
  return absl::InvalidArgumentError(absl::StrCat("'", View(text), "' is not true or false"));
}

}  // namespace profiler::config
