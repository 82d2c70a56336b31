// What users write behind options, as values: lists, sizes and the like. Errors are
// kInvalidArgument and quote the text that is wrong.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/perf_data/format/time_range.h"

namespace profiler::cli {

// "17,4" → {17, 4}; positive numbers, in the order given, each once.
absl::StatusOr<std::vector<int>> ParseIdList(std::string_view text);

// The data pages of a ring: "128" is pages, "512K", "4M", "1G" and "8192B" are sizes. Rounded up to
// a power of two of pages.
absl::StatusOr<size_t> ParseRingPages(std::string_view text, size_t page_size);

// "1000", "512K", "4M", "1G" and "8192B" as bytes; not 0.
absl::StatusOr<uint64_t> ParseSize(std::string_view text);

// "500ms", "2s", "5m", "1h" and "1d"; not 0.
absl::StatusOr<std::chrono::milliseconds> ParseDuration(std::string_view text);

// What is between two times, in the notation of perf's --time: "12.5,13" is seconds of the samples'
// clock, "12.5," and ",13" leave an end open, "10%-20%" is percent of the whole.
absl::StatusOr<perf_data::TimeRange> ParseTimeRange(std::string_view text);

// Several of them: "10%-20%,40%-50%", or "1.5,2 4,4.5" with a blank between those in seconds. Also
// "10%/2", the second tenth, and "10%", the first one.
absl::StatusOr<std::vector<perf_data::TimeRange>> ParseTimeRanges(std::string_view text);

// "100ms", "20us", "1s" and "500ns" in nanoseconds; not 0.
absl::StatusOr<uint64_t> ParseTimeQuantum(std::string_view text);

// Rounded to whole ones.
std::chrono::milliseconds Milliseconds(double value);

// What stands behind -D, in milliseconds, of `record` and `stat`: how long to wait before it
// begins; nothing for -1, with which it is --control that says when. `option`: what an error calls
// it. kInvalidArgument for other negative ones.
absl::StatusOr<std::optional<std::chrono::milliseconds>> ReadDelay(std::string_view option,
                                                                   double milliseconds);

// "a,b" → {"a", "b"}; empty pieces are dropped.
std::vector<std::string> SplitList(std::string_view text);

}  // namespace profiler::cli
