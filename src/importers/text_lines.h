// Iterates over the lines of a text, and searches it.

#pragma once

#include <cstddef>
#include <string_view>

namespace profiler::importers {

// Above this, a double cannot represent every integer.
inline constexpr double kMostExactNumber = 9007199254740992.0;

// The lines, as views: the text must outlive them.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(text) {}

  // Returns the next line without its end (LF, or CR LF); false if there is none.
  bool Next(std::string_view* line) {
    if (rest_.empty()) return false;
    const size_t end = rest_.find('\n');
    *line = rest_.substr(0, end);
    if (line->ends_with('\r')) line->remove_suffix(1);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++number_;
    return true;
  }

  // Returns the number of the line that Next returned last, from 1 on.
  size_t number() const { return number_; }
  // Returns the text after the line that Next returned last.
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  size_t number_ = 0;
};

inline bool Contains(std::string_view text, std::string_view key) {
  return text.find(key) != std::string_view::npos;
}

// Removes the byte order mark, which some editors and shells put in front of UTF-8.
inline std::string_view WithoutByteOrderMark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

inline std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\v\f";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace profiler::importers
