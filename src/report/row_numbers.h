// Which rows are one, of several histograms of one table of functions.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/report/hist.h"
#include "src/report/sample_groups.h"

namespace profiler::report {

// Not thread-safe.
class RowNumbers {
 public:
  // By the sort keys of `hist`, which must outlive it.
  explicit RowNumbers(const Histogram& hist);

  // Equal for rows that agree in those keys; from 0, in order of appearance.
  size_t Of(const HistRow& row);

 private:
  const Histogram& hist_;
  const std::vector<uint32_t> thread_group_;
  FinerGroups finer_;
  absl::flat_hash_map<uint64_t, size_t> known_;  // by group and bucket
};

}  // namespace profiler::report
