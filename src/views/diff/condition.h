// Parses the condition on which a comparison fails, for build servers: "self > +2pt".
//
//   self > +2pt     a function's own share has grown significantly, by more than two points
//   total > +10%    a function's share with its callees has grown by more than a tenth of itself
//   self < -1pt     a function's own share has shrunk by more than one point

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/views/diff/compare.h"

namespace profiler::diff {

struct Condition {
  Weight weight = Weight::kSelf;
  // True for '>', false for '<'.
  bool grows = true;
  double bound = 0;  // change as a share of the whole or, if `relative`, of the share before
  bool relative = false;

  // True if a row meets the condition. Rows that are not significant never do.
  bool IsMet(const Row& row) const;
};

// Parses a condition. Returns kInvalidArgument, which quotes the text, if the text is no condition.
absl::StatusOr<Condition> ParseCondition(std::string_view text);

}  // namespace profiler::diff
