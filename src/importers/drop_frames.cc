#include "src/importers/drop_frames.h"

#include <regex.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace profiler::importers {
namespace {

constexpr size_t kLongest = 4096, kDeepest = 32;
// Number of matched bytes after which an expression is compiled anew, which frees the memory of its
// cache. While matching, the C library caches up to one state per byte. Each state has at most as
// many positions as the expression.
constexpr size_t kMostMatched = 8192;

// Translates a pattern of Go into a POSIX extended expression that matches the whole name.
std::optional<std::string> Translated(std::string_view pattern) {
  if (pattern.size() > kLongest) return std::nullopt;
  std::string out = "^(";
  size_t depth = 0;
  bool is_in_brackets = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\') {
      if (++i == pattern.size() || is_in_brackets) return std::nullopt;
      const char escaped = pattern[i];
      if (escaped == 'd') {
        out += "[0-9]";
      } else if (escaped == 'w') {
        out += "[0-9A-Za-z_]";
      } else if (escaped == 's') {
        out += "[[:space:]]";
      } else if (std::string_view(".+*?()|[]{}^$\\/-:<>,~ &=!").find(escaped) !=
                 std::string_view::npos) {
        if (std::string_view(".+*?()|[]{}^$\\").find(escaped) != std::string_view::npos)
          out += '\\';
        out += escaped;
      } else {
        return std::nullopt;
      }
      continue;
    }
    out += c;
    if (is_in_brackets) {
      is_in_brackets = c != ']';
    } else if (c == '[') {
      is_in_brackets = true;
    } else if (c == '{' || c == '\0') {
      // A counted repetition takes as much memory as that many copies of its pattern.
      return std::nullopt;
    } else if (c == '(') {
      if (++depth > kDeepest) return std::nullopt;
      if (pattern.substr(i + 1).starts_with("?:")) {
        i += 2;
      } else if (pattern.substr(i + 1).starts_with('?')) {
        return std::nullopt;
      }
    } else if (c == ')') {
      if (depth-- == 0) return std::nullopt;
    } else if ((c == '*' || c == '+' || c == '?') && pattern.substr(i + 1).starts_with('?')) {
      ++i;
    }
  }
  if (depth != 0 || is_in_brackets) return std::nullopt;
  return out + ")$";
}

// Returns the name without its parameters, and without the dot of PowerPC's first ABI.
std::string WithoutParameters(std::string_view name) {
  if (name.starts_with('.')) name.remove_prefix(1);
  for (size_t at = name.find('('); at != name.npos; at = name.find('(', at + 1)) {
    constexpr std::string_view kAnonymous = "(anonymous namespace)", kOperator = "operator()";
    const bool is_of_name = name.substr(at).starts_with(kAnonymous) ||
                            (at + 1 < name.size() && name.substr(0, at + 2).ends_with(kOperator));
    if (!is_of_name) return std::string(name.substr(0, at));
  }
  return std::string(name);
}

}  // namespace

class DropFrames::Expression {
 public:
  explicit Expression(std::string translated) : text_(std::move(translated)) { Compile(); }
  Expression(const Expression&) = delete;
  ~Expression() { Free(); }

  bool is_valid() const { return is_compiled_; }
  size_t size() const { return text_.size(); }

  bool Matches(const std::string& name) {
    matched_ += name.size();
    if (matched_ > kMostMatched) {
      Free();
      Compile();
      matched_ = name.size();
    }
    return is_compiled_ && regexec(&compiled_, name.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  void Compile() {
    is_compiled_ = regcomp(&compiled_, text_.c_str(), REG_EXTENDED | REG_NOSUB) == 0;
  }
  void Free() {
    if (is_compiled_) regfree(&compiled_);
  }

  const std::string text_;
  regex_t compiled_{};
  bool is_compiled_ = false;
  size_t matched_ = 0;  // number of bytes matched since the last Compile
};

std::optional<DropFrames> DropFrames::Parse(std::string_view drop, std::string_view keep) {
  DropFrames frames;
  const auto parse = [](std::string_view pattern, std::shared_ptr<Expression>& expression) {
    std::optional<std::string> translated = Translated(pattern);
    if (!translated) return false;
    expression = std::make_shared<Expression>(*std::move(translated));
    return expression->is_valid();
  };
  if (!parse(drop, frames.drop_)) return std::nullopt;
  if (!keep.empty() && !parse(keep, frames.keep_)) return std::nullopt;
  return frames;
}

bool DropFrames::Matches(Expression& expression, const std::string& name) {
  budget_ -= std::min(budget_, uint64_t{expression.size()} * name.size());
  return budget_ != 0 && expression.Matches(name);
}

bool DropFrames::Drops(std::string_view name) {
  if (name.empty() || name.size() > kLongest) return false;
  const std::string shown = WithoutParameters(name);
  return Matches(*drop_, shown) && (keep_ == nullptr || !Matches(*keep_, shown));
}

}  // namespace profiler::importers
