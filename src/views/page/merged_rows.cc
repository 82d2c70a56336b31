#include "src/views/page/merged_rows.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "src/base/huge_vector.h"
#include "src/base/radix_sort.h"

namespace profiler::page {
namespace {

// Packs the four sort keys of a row into one number, which needs fewer sorting passes.
class SortKey {
 public:
  explicit SortKey(const std::vector<PathRow>& rows) {
    PathRow most;
    for (const PathRow& row : rows) {
      most.slice = std::max(most.slice, row.slice);
      most.path = std::max(most.path, row.path);
      most.thread = std::max(most.thread, row.thread);
      most.event = std::max(most.event, row.event);
    }
    path_at_ = std::bit_width(most.slice);
    thread_at_ = path_at_ + std::bit_width(most.path);
    event_at_ = thread_at_ + std::bit_width(most.thread);
    bits_ = event_at_ + std::bit_width(most.event);
  }

  int bits() const { return bits_; }
  // Returns the packed key; valid only if bits() is at most 64.
  uint64_t Of(const PathRow& row) const {
    return row.slice | uint64_t{row.path} << path_at_ | uint64_t{row.thread} << thread_at_ |
           uint64_t{row.event} << event_at_;
  }

 private:
  int path_at_ = 0, thread_at_ = 0, event_at_ = 0, bits_ = 0;
};

HugeVector<uint32_t> OrderOf(const std::vector<PathRow>& rows) {
  const SortKey key(rows);
  RadixSort sort(static_cast<uint32_t>(rows.size()));
  if (key.bits() <= 32) {
    sort.SortBy([&](uint32_t i) { return static_cast<uint32_t>(key.Of(rows[i])); });
  } else if (key.bits() < 64) {
    sort.SortBy([&](uint32_t i) { return key.Of(rows[i]); });
  } else {
    sort.SortBy([&](uint32_t i) { return rows[i].slice; });
    sort.SortBy([&](uint32_t i) { return rows[i].path; });
    sort.SortBy([&](uint32_t i) { return rows[i].thread; });
    sort.SortBy([&](uint32_t i) { return rows[i].event; });
  }
  return sort.Order();
}

bool AreOne(const PathRow& a, const PathRow& b) {
  return a.event == b.event && a.thread == b.thread && a.path == b.path && a.slice == b.slice;
}

}  // namespace

void SortAndMergeRows(std::vector<PathRow>& rows) {
  std::vector<PathRow> merged;
  merged.reserve(rows.size());
  for (const uint32_t i : OrderOf(rows)) {
    if (!merged.empty() && AreOne(merged.back(), rows[i])) {
      merged.back().count += rows[i].count;
      merged.back().period += rows[i].period;
    } else {
      merged.push_back(rows[i]);
    }
  }
  rows = std::move(merged);
}

}  // namespace profiler::page
