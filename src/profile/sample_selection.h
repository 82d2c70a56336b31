// Selects samples of a recording by time and CPU.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace profiler::profile {

// A span of time, in ns of the samples' clock; both ends are included.
struct TimeSpan {
  uint64_t first = 0, last = UINT64_MAX;
};

struct SampleSelection {
  uint64_t first = 0, last = UINT64_MAX;  // bounds of the selected time, as in TimeSpan
  std::vector<uint32_t> cpus;             // selected CPUs; empty: all CPUs
  std::vector<TimeSpan> spans;            // selected parts of that time; empty: all of it

  bool HasAllTimes() const { return first == 0 && last == UINT64_MAX && spans.empty(); }
  bool HasAll() const { return HasAllTimes() && cpus.empty(); }
  bool HasTime(uint64_t time) const { return HasSpan({time, time}); }
  // True if the whole span is selected.
  bool HasSpan(const TimeSpan& span) const {
    if (span.first < first || span.last > last) return false;
    return spans.empty() || std::any_of(spans.begin(), spans.end(), [&](const TimeSpan& part) {
             return part.first <= span.first && span.last <= part.last;
           });
  }
  // True if any part of the span is selected.
  bool Touches(const TimeSpan& span) const {
    if (span.last < first || span.first > last) return false;
    return spans.empty() || std::any_of(spans.begin(), spans.end(), [&](const TimeSpan& part) {
             return part.first <= span.last && span.first <= part.last;
           });
  }
  bool HasCpu(uint32_t cpu) const {
    return cpus.empty() || std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
  }
};

}  // namespace profiler::profile
