// Finds functions by a pattern of their names: a POSIX extended regular expression, which may match
// anywhere in a name.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/profile/profile.h"

namespace profiler::analysis {

// A pattern. Copyable. Matching is thread-safe.
class NamePattern {
 public:
  // Parses a pattern. Returns kInvalidArgument, with the pattern and its error, if it is malformed.
  static absl::StatusOr<NamePattern> Parse(std::string_view pattern);

  bool Matches(std::string_view name) const;

 private:
  struct Expression;
  std::shared_ptr<const Expression> expression_;
};

// Returns for each frame whether its function matches; functions inlined into it do not count.
// Matches each symbol once.
std::vector<bool> FramesOf(const NamePattern& pattern, const profile::Profile& profile);

}  // namespace profiler::analysis
