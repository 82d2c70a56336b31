// When a comparison is to fail, as a build server is told: "self > +2pt".
//
//   self > +2pt     a function has, significantly, more than two points more of the whole by itself
//   total > +10%    one takes, with all that it calls, over a tenth more of the whole than before
//   self < -1pt     one has over a point less

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/diff/compare.h"

namespace profiler::diff {

struct Condition {
  Weight weight = Weight::kSelf;
  bool grows = true;
  double bound = 0;  // of the change: a part of the whole, or relative of what it was
  bool relative = false;

  // Of a significant row: others are never said to have changed.
  bool IsMet(const Row& row) const;
};

// kInvalidArgument quotes what cannot be read.
absl::StatusOr<Condition> ParseCondition(std::string_view text);

}  // namespace profiler::diff
