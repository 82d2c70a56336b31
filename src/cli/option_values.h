// Parses values of options: lists, sizes, times and the like. Errors are kInvalidArgument and quote
// the malformed text.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/format/perf_data/format/time_range.h"

namespace profiler::cli {

// Parses "17,4" to {17, 4}: positive numbers in the given order, without duplicates.
absl::StatusOr<std::vector<int>> ParseIdList(std::string_view text);

// Returns the number of data pages of a ring, rounded up to a power of two. "128" is in pages;
// "512K", "4M", "1G" and "8192B" are sizes.
absl::StatusOr<size_t> ParseRingPages(std::string_view text, size_t page_size);

// Parses "1000", "512K", "4M", "1G" and "8192B" to bytes. 0 is an error.
absl::StatusOr<uint64_t> ParseSize(std::string_view text);

// Parses "500ms", "2s", "5m", "1h" and "1d". 0 is an error.
absl::StatusOr<std::chrono::milliseconds> ParseDuration(std::string_view text);

// Parses an interval in the notation of perf's --time. "12.5,13" is in seconds of the samples'
// clock; "12.5," has no end and ",13" has no begin; "10%-20%" is in percent of the recording's
// time.
absl::StatusOr<perf_data::TimeRange> ParseTimeRange(std::string_view text);

// Parses several intervals: "10%-20%,40%-50%", or "1.5,2 4,4.5" with blanks between intervals in
// seconds. Also parses "10%/2", the second tenth, and "10%", the first tenth.
absl::StatusOr<std::vector<perf_data::TimeRange>> ParseTimeRanges(std::string_view text);

// Parses "100ms", "20us", "1s" and "500ns" to nanoseconds. 0 is an error.
absl::StatusOr<uint64_t> ParseTimeQuantum(std::string_view text);

// Rounds to whole milliseconds.
std::chrono::milliseconds Milliseconds(double value);

// Converts the value of -D of `record` and `stat`, in milliseconds: the delay before measuring.
// Returns nothing for -1: then measuring begins when --control says so. Returns kInvalidArgument
// for other negative values. `option` is the option's name for error messages.
absl::StatusOr<std::optional<std::chrono::milliseconds>> ReadDelay(std::string_view option,
                                                                   double milliseconds);

// Splits "a,b" into {"a", "b"}; empty pieces are dropped.
std::vector<std::string> SplitList(std::string_view text);

}  // namespace profiler::cli
