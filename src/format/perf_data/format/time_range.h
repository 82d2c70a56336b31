// A part of a recording, as perf's --time option selects it.

#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "src/format/perf_data/format/features.h"

namespace profiler::perf_data {

// A range of time, both ends included. Its ends are nanoseconds of the samples' clock, or
// percentages of the time from the first to the last sample.
struct TimeRange {
  uint64_t begin = 0, end = UINT64_MAX;
  std::optional<double> begin_percent, end_percent;  // 0 to 100; both are set, or none

  // True if the range includes `time`. Requires a range in nanoseconds.
  bool Contains(uint64_t time) const { return begin <= time && time <= end; }

  // Converts percentages to nanoseconds; `all` has the times of the recording's first and last
  // sample.
  TimeRange Within(const SampleTime& all) const {
    if (!begin_percent.has_value()) return *this;
    const auto length = static_cast<double>(all.last - all.first);
    TimeRange range{.begin = all.first + std::llround(length * *begin_percent / 100),
                    .end = all.first + std::llround(length * *end_percent / 100)};
    // Exclude the end, so that adjacent ranges share no sample.
    if (range.end > range.begin && range.end != all.last) --range.end;
    return range;
  }
};

}  // namespace profiler::perf_data
