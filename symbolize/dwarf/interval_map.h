// Finds the innermost of many nested or overlapping address ranges at an address.

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace profiler::symbolize::dwarf {

inline constexpr uint32_t kNoOwner = std::numeric_limits<uint32_t>::max();

// A map from addresses to the owners of ranges. Built once from ranges in any order, which are
// flattened into disjoint pieces. On the right are the starts of pieces with their owners:
//
//   f   [--------------------)              0 f  3 g  7 f  9 h  12 f
//   g      [----)
//   h            [---)
//
// If ranges overlap, the range with the highest start wins. Of ranges with equal starts, the
// shortest wins; of equal ranges, the last added. Building takes O(n log n); a look-up is a binary
// search.
class IntervalMap {
 public:
  void Add(uint64_t start, uint64_t end, uint32_t owner) {
    if (start < end) ranges_.push_back({start, end, owner, static_cast<uint32_t>(ranges_.size())});
  }

  // Flattens the ranges. Call Build once, after the last Add.
  void Build() {
    std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
      if (a.start != b.start) return a.start < b.start;
      return a.end != b.end ? a.end > b.end : a.order < b.order;
    });
    std::vector<const Range*> open;  // innermost last
    const auto close_until = [&](uint64_t address) {
      while (!open.empty() && open.back()->end <= address) {
        const uint64_t at = open.back()->end;
        while (!open.empty() && open.back()->end <= at) open.pop_back();
        Append(at, open.empty() ? kNoOwner : open.back()->owner);
      }
    };
    for (const Range& range : ranges_) {
      close_until(range.start);
      Append(range.start, range.owner);
      open.push_back(&range);
    }
    close_until(std::numeric_limits<uint64_t>::max());
    stretches_.shrink_to_fit();
    ranges_ = {};
  }

  // Returns the owner of the innermost range; kNoOwner if there is none.
  uint32_t Find(uint64_t address) const {
    const auto after =
        std::upper_bound(stretches_.begin(), stretches_.end(), address,
                         [](uint64_t a, const Stretch& stretch) { return a < stretch.start; });
    return after == stretches_.begin() ? kNoOwner : std::prev(after)->owner;
  }

  bool empty() const { return stretches_.empty(); }

 private:
  struct Range {
    uint64_t start, end;
    uint32_t owner, order;
  };
  struct Stretch {
    uint64_t start;
    uint32_t owner;
  };

  void Append(uint64_t start, uint32_t owner) {
    if (!stretches_.empty() && stretches_.back().start == start) {
      stretches_.back().owner = owner;
    } else if (stretches_.empty() || stretches_.back().owner != owner) {
      stretches_.push_back({start, owner});
    }
  }

  std::vector<Range> ranges_;
  std::vector<Stretch> stretches_;
};

}  // namespace profiler::symbolize::dwarf
