#include "src/format/perf_data/read/round_sorter.h"

#include <algorithm>
#include <span>

namespace profiler::perf_data {
namespace {

// Prefetches the records: the visitor will read them, but they have left the cache since Add.
void VisitAll(std::span<const RoundSorter::Entry> entries, RoundSorter::Visitor visit) {
  constexpr size_t kPrefetchDistance = 8;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i + kPrefetchDistance < entries.size()) {
      __builtin_prefetch(entries[i + kPrefetchDistance].record);
    }
    visit(entries[i]);
  }
}

bool Earlier(const RoundSorter::Entry& a, const RoundSorter::Entry& b) { return a.time < b.time; }

}  // namespace

void RoundSorter::AddEnds(Ends& ends) {
  if (ends.first.record == nullptr) return;
  entries_.push_back(ends.first);
  if (ends.last.time != ends.first.time) entries_.push_back(ends.last);
  ends = {};
}

void RoundSorter::Sort() {
  AddEnds(passed_over_);
  AddEnds(passed_over_later_);
  if (!std::is_sorted(entries_.begin(), entries_.end(), Earlier)) {
    std::stable_sort(entries_.begin(), entries_.end(), Earlier);
  }
}

void RoundSorter::EndRound(Visitor visit) {
  Sort();
  if (entries_.empty()) return;
  const auto end =
      std::upper_bound(entries_.begin(), entries_.end(), Entry{release_limit_, nullptr}, Earlier);
  VisitAll({entries_.begin(), end}, visit);
  release_limit_ = std::max(release_limit_, entries_.back().time);
  entries_.erase(entries_.begin(), end);
}

void RoundSorter::Flush(Visitor visit) {
  Sort();
  VisitAll(entries_, visit);
  entries_.clear();
  release_limit_ = 0;
}

}  // namespace profiler::perf_data
