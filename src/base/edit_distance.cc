#include "src/base/edit_distance.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace profiler {

size_t EditDistance(std::string_view a, std::string_view b, Swapped swapped) {
  // row[j] is the distance between the first i letters of `a` and the first j of `b`. `before` and
  // `before_that` are the rows of i - 1 and i - 2.
  std::vector<size_t> row(b.size() + 1), before(b.size() + 1), before_that(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, before_that);
    std::swap(row, before);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool are_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (are_swapped && swapped == Swapped::kOneEdit) {
        row[j] = std::min(row[j], before_that[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

}  // namespace profiler
