#include "src/views/report/row_numbers.h"

namespace profiler::report {

RowNumbers::RowNumbers(const Histogram& hist)
    : hist_(hist),
      thread_group_(ThreadGroups(hist.profile(), hist.options())),
      finer_(hist.profile(), hist.options()) {}

size_t RowNumbers::Of(const HistRow& row) {
  const uint32_t group = finer_.Of(thread_group_[static_cast<uint32_t>(row.thread)], row.sample);
  const auto key = uint64_t{group} << 32 | hist_.BucketOf(row.function);
  return known_.try_emplace(key, known_.size()).first->second;
}

}  // namespace profiler::report
