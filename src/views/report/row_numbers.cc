#include "src/views/report/row_numbers.h"

namespace profiler::report {

RowNumbers::RowNumbers(const Histogram& hist)
    : hist_(hist), groups_(hist.profile(), hist.options()) {}

size_t RowNumbers::Of(const HistRow& row) {
  const uint32_t group = groups_.Of(row.thread, row.sample);
  const auto key = uint64_t{group} << 32 | hist_.BucketOf(row.function);
  return known_.try_emplace(key, known_.size()).first->second;
}

}  // namespace profiler::report
