// Finds the functions that a pprof file wants left out together with their callees: those that
// match drop_frames, except those that match keep_frames. Both are regular expressions of Go's
// package regexp that have to match the whole name.
//
// Source: google/pprof, profile/prune.go.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace profiler::importers {

class DropFrames {
 public:
  // Parses the patterns. Returns nothing if a pattern is too long, or if its syntax does not exist
  // in POSIX's extended expressions. Of the syntax of Go alone, only \d, \w, \s, (?: and lazy
  // repetition are translated.
  static std::optional<DropFrames> Parse(std::string_view drop, std::string_view keep);

  // True if frames of the function have to be left out. Its name is compared without its
  // parameters. False for names that are too long. Not thread-safe.
  bool Drops(std::string_view name);

  // True if matching exceeded its budget, which limits untrusted patterns and names. The results of
  // Drops are then unreliable.
  bool is_too_much() const { return budget_ == 0; }

 private:
  class Expression;
  bool Matches(Expression& expression, const std::string& name);

  std::shared_ptr<Expression> drop_, keep_;  // keep_: null if there is no such pattern
  // The rest of the budget for matching, in bytes of names times bytes of patterns.
  uint64_t budget_ = uint64_t{1} << 28;
};

}  // namespace profiler::importers
