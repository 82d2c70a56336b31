// Reads the small text files of /proc and /sys, whose size is unknown before they are read.

#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "src/base/status.h"

namespace profiler::procfs {

// The mount points of the two file systems. Tests use a fake tree instead.
struct Roots {
  std::string proc = "/proc";
  std::string sys = "/sys";
};

// Replaces `*text` by the whole file; keeps its capacity, so that one string serves many files.
// Raises the program's capabilities, so do not call it with a path that another user chose. Errors:
// those of open(2) and read(2).
absl::Status ReadFile(const std::string& path, std::string* text);
// Like ReadFile, for a file that the user named: with only the user's own rights.
absl::Status ReadNamedFile(const std::string& path, std::string* text);

// Calls `take` with each line, without its newline, until it returns false. Splits a line of more
// than kLongestLine bytes. Memory: twice kLongestLine. Errors: those of open(2) and read(2).
inline constexpr size_t kLongestLine = size_t{1} << 16;
absl::Status ReadLines(const std::string& path,
                       absl::FunctionRef<bool(std::string_view line)> take);

// Returns the first line without its newline; nullopt if the file cannot be read.
std::optional<std::string> ReadLine(const std::string& path);

// Returns the file's content as a number; nullopt if it is not a number.
std::optional<int64_t> ReadNumber(const std::string& path);

// A scanner that consumes pieces at the front of a text. Returned views point into the text.
class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  // Returns the text before `delimiter`, and drops the delimiter. Returns all remaining text if
  // there is no delimiter.
  std::string_view Until(char delimiter) {
    const size_t end = rest_.find(delimiter);
    const std::string_view piece = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    return piece;
  }
  void SkipSpaces() {
    const size_t start = rest_.find_first_not_of(" \t");
    rest_.remove_prefix(start == std::string_view::npos ? rest_.size() : start);
  }
  // Returns the next word; drops the spaces and tabs around it.
  std::string_view Word() {
    SkipSpaces();
    const size_t end = rest_.find_first_of(" \t");
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(word.size());
    SkipSpaces();
    return word;
  }

 private:
  std::string_view rest_;
};

// Returns the whole of `text` as a number; nullopt if it contains anything else.
template <class T>
std::optional<T> ParseNumber(std::string_view text, int base = 10) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// Returns the value of `key` in lines of the form "key : value", without leading spaces.
std::optional<std::string_view> ValueOf(std::string_view text, std::string_view key);

}  // namespace profiler::procfs
