// What part of a recording is meant, as perf's --time says it.

#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "src/perf_data/format/features.h"

namespace profiler::perf_data {

// Both ends are inside. In nanoseconds of the samples' clock, or in percent of the time from the
// first to the last sample.
struct TimeRange {
  uint64_t begin = 0, end = UINT64_MAX;
  std::optional<double> begin_percent, end_percent;  // both or none; 0 to 100

  // Only once it is not in percent any more.
  bool Contains(uint64_t time) const { return begin <= time && time <= end; }

  // In nanoseconds, for a recording whose samples are of these times.
  TimeRange Within(const SampleTime& all) const {
    if (!begin_percent.has_value()) return *this;
    const auto length = static_cast<double>(all.last - all.first);
    TimeRange range{.begin = all.first + std::llround(length * *begin_percent / 100),
                    .end = all.first + std::llround(length * *end_percent / 100)};
    // Neighbours share no sample.
    if (range.end > range.begin && range.end != all.last) --range.end;
    return range;
  }
};

}  // namespace profiler::perf_data
