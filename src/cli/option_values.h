// What users write behind options, as values: lists, sizes and the like. Errors are
// kInvalidArgument and quote the text that is wrong.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"

namespace profiler::cli {

// "0,2-3" → {0, 2, 3}; sorted, each once.
absl::StatusOr<std::vector<int>> ParseCpuList(std::string_view text);

// "17,4" → {17, 4}; positive numbers, in the order given, each once.
absl::StatusOr<std::vector<int>> ParseIdList(std::string_view text);

// The data pages of a ring: "128" is pages, "512K", "4M", "1G" and "8192B" are sizes. Rounded up to
// a power of two of pages.
absl::StatusOr<size_t> ParseRingPages(std::string_view text, size_t page_size);

// "12.5,13" → from 12.5 s to 13 s, both included. Either may be missing. Up to nine digits behind
// the point.
struct TimeRange {
  uint64_t first = 0, last = UINT64_MAX;  // nanoseconds
  bool Contains(uint64_t time) const { return first <= time && time <= last; }
};
absl::StatusOr<TimeRange> ParseTimeRange(std::string_view text);

// "a,b" → {"a", "b"}; empty pieces are dropped.
std::vector<std::string> SplitList(std::string_view text);

}  // namespace profiler::cli
