// Reads the small text files of /proc and /sys, whose size is not known before they are read.

#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "src/base/status.h"

namespace profiler::procfs {

// Where the two file systems are mounted; tests put a fake tree in their place.
struct Roots {
  std::string proc = "/proc";
  std::string sys = "/sys";
};

// Replaces `*text` by the whole file; keeps its capacity, so that one string serves many files.
// Errors: those of open(2) and read(2).
// With the capabilities that the program may raise, so nobody else may have made the path.
absl::Status ReadFile(const std::string& path, std::string* text);
// Reads a file that the user names, with the user's own rights. Errors as for ReadFile.
absl::Status ReadNamedFile(const std::string& path, std::string* text);

// Hands `take` each line, without its newline, until that says no, and keeps no more of the file
// than one of them, nor of a line that has no end more than kLongestLine bytes. Errors: those of
// open(2) and read(2).
inline constexpr size_t kLongestLine = size_t{1} << 16;
absl::Status ReadLines(const std::string& path,
                       absl::FunctionRef<bool(std::string_view line)> take);

// The first line without its newline; nothing when the file cannot be read.
std::optional<std::string> ReadLine(const std::string& path);

// The number that the file consists of.
std::optional<int64_t> ReadNumber(const std::string& path);

// Takes pieces off the front of a text. Views point into the text.
class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  // Up to `delimiter`, which is dropped; all that is left when there is none.
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
  // The next word, spaces and tabs around it dropped.
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

// The whole of `text` as a number; nothing when there is anything else in it.
template <class T>
std::optional<T> ParseNumber(std::string_view text, int base = 10) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// The value of `key` in lines of the form "key : value", its spaces dropped.
std::optional<std::string_view> ValueOf(std::string_view text, std::string_view key);

}  // namespace profiler::procfs
