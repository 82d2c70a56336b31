// Which functions a pprof file wants left out, with all that they call: drop_frames, except
// keep_frames. Both are regular expressions of Go's package regexp that a whole name has to match.
//
// Source: google/pprof, profile/prune.go.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace profiler::import {

class DropFrames {
 public:
  // Nothing for a pattern that has what POSIX's extended expressions have not, except \d, \w, \s,
  // (?: and lazy repetition, which are translated, or that is too long.
  static std::optional<DropFrames> Parse(std::string_view drop, std::string_view keep);

  // True if the pattern matches the name without its parameters. False for names that are too
  // long. Not thread-safe.
  bool Drops(std::string_view name);

  // True if the names took more than they may: pattern and names are untrusted. What Drops says is
  // not to be believed then.
  bool is_too_much() const { return budget_ == 0; }

 private:
  class Expression;
  bool Matches(Expression& expression, const std::string& name);

  std::shared_ptr<Expression> drop_, keep_;  // of `keep`: null for none
  uint64_t budget_ = uint64_t{1} << 28;      // bytes of names times bytes of patterns
};

}  // namespace profiler::import
