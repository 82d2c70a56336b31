#include "src/perf_data/read/round_sorter.h"

#include <algorithm>
#include <span>

namespace profiler::perf_data {
namespace {

// How far back a late record is moved at once before it starts a run of its own.
constexpr size_t kMaxInsertDistance = 8;

// The visitor will look at the record: it has left the cache since it was added.
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

void RoundSorter::AddOutOfOrder(const Entry& entry) {
  const size_t run_start = run_starts_.back();
  size_t at = entries_.size();
  const size_t lowest = at - std::min(at - run_start, kMaxInsertDistance);
  while (at > lowest && entry.time < entries_[at - 1].time) --at;
  const bool fits = at > lowest || lowest == run_start;
  if (fits) {
    entries_.insert(entries_.begin() + static_cast<ptrdiff_t>(at), entry);
  } else {
    run_starts_.push_back(entries_.size());
    entries_.push_back(entry);
  }
}

void RoundSorter::EndRound(Visitor visit) {
  MergeRuns();
  if (entries_.empty()) return;
  const auto end =
      std::upper_bound(entries_.begin(), entries_.end(), Entry{release_limit_, nullptr}, Earlier);
  VisitAll({entries_.begin(), end}, visit);
  release_limit_ = std::max(release_limit_, entries_.back().time);
  entries_.erase(entries_.begin(), end);
}

void RoundSorter::Flush(Visitor visit) {
  MergeRuns();
  VisitAll(entries_, visit);
  entries_.clear();
  release_limit_ = 0;
}

// Merges neighbouring runs, pair by pair, until one is left. Neighbours, because that keeps the
// order of equal times.
void RoundSorter::MergeRuns() {
  while (run_starts_.size() > 1) {
    size_t kept = 0;
    for (size_t run = 0; run < run_starts_.size(); run += 2) {
      const size_t begin = run_starts_[run];
      if (run + 1 < run_starts_.size()) {
        const size_t end = run + 2 < run_starts_.size() ? run_starts_[run + 2] : entries_.size();
        MergeNeighbours(begin, run_starts_[run + 1], end);
      }
      run_starts_[kept++] = begin;
    }
    run_starts_.resize(kept);
  }
}

// Only what overlaps moves, and only the shorter side of it is copied aside.
void RoundSorter::MergeNeighbours(size_t begin, size_t middle, size_t end) {
  Entry* const data = entries_.data();
  Entry* left = std::upper_bound(data + begin, data + middle, data[middle], Earlier);
  Entry* const left_end = data + middle;
  if (left == left_end) return;
  Entry* right_end = std::lower_bound(data + middle, data + end, left_end[-1], Earlier);
  if (left_end - left <= right_end - left_end) {
    scratch_.assign(left, left_end);
    const Entry* a = scratch_.data();
    const Entry* const a_end = a + scratch_.size();
    const Entry* b = left_end;
    Entry* out = left;
    while (a != a_end && b != right_end) {
      const bool take_b = b->time < a->time;
      *out++ = take_b ? *b : *a;
      b += take_b;
      a += !take_b;
    }
    std::copy(a, a_end, out);  // what is left of b is in its place
  } else {
    scratch_.assign(left_end, right_end);
    const Entry* a = left_end;  // one past the last, both
    const Entry* b = scratch_.data() + scratch_.size();
    const Entry* const b_begin = scratch_.data();
    Entry* out = right_end;
    while (a != left && b != b_begin) {
      const bool take_a = b[-1].time < a[-1].time;
      *--out = take_a ? a[-1] : b[-1];
      a -= take_a;
      b -= !take_a;
    }
    std::copy_backward(b_begin, b, out);  // what is left of a is in its place
  }
}

}  // namespace profiler::perf_data
