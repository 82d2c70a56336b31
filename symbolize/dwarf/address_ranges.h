// Address ranges, and a search for the range that contains an address.
//
// Private to this package.

#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace profiler::symbolize::dwarf {

struct AddressRange {
  uint64_t start = 0;
  uint64_t end = 0;  // exclusive
};

// Sorts ranges, joins ranges that overlap or touch, and drops empty ones.
inline void Merge(std::vector<AddressRange>& ranges) {
  std::erase_if(ranges, [](const AddressRange& range) { return range.start >= range.end; });
  std::ranges::sort(ranges, {}, &AddressRange::start);
  size_t kept = 0;
  for (const AddressRange& range : ranges) {
    if (kept != 0 && range.start <= ranges[kept - 1].end) {
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
}

// Returns the last range that starts at or before `address`; null if there is none. `ranges` must
// be a result of Merge. O(log n).
inline const AddressRange* LastFrom(const std::vector<AddressRange>& ranges, uint64_t address) {
  const auto after = std::ranges::upper_bound(ranges, address, {}, &AddressRange::start);
  return after == ranges.begin() ? nullptr : &*std::prev(after);
}

}  // namespace profiler::symbolize::dwarf
