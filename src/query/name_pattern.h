// Functions by a pattern of their names: a POSIX extended regular expression, found anywhere in a
// name.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/profile/profile.h"

namespace profiler::query {

// A value that can be copied. Matching is thread-safe.
class NamePattern {
 public:
  // kInvalidArgument quotes the pattern and what is wrong with it.
  static absl::StatusOr<NamePattern> Parse(std::string_view pattern);

  bool Matches(std::string_view name) const;

 private:
  struct Expression;
  std::shared_ptr<const Expression> expression_;
};

// By frame: whether the function there, what was inlined into it left aside, has such a name. Each
// symbol is looked at once.
std::vector<bool> FramesOf(const NamePattern& pattern, const profile::Profile& profile);

}  // namespace profiler::query
