// Numbers rows, so that equal rows of several histograms have the same number. The histograms must
// share one table of functions.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "src/views/report/hist.h"
#include "src/views/report/sample_groups.h"

namespace profiler::report {

// Numbers of rows. Not thread-safe.
class RowNumbers {
 public:
  // Compares rows by the sort keys of `hist`, which must outlive it.
  explicit RowNumbers(const Histogram& hist);

  // Returns a number that is equal for rows with equal keys; from 0, in order of appearance.
  size_t Of(const HistRow& row);

 private:
  const Histogram& hist_;
  GroupNumbers groups_;
  absl::flat_hash_map<uint64_t, size_t> known_;  // number of a row, keyed by group and bucket
};

}  // namespace profiler::report
