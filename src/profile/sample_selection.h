// Which samples of a recording are looked at, whatever is then shown of them.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace profiler::profile {

// In nanoseconds of the samples' clock; both ends are inside.
struct TimeSpan {
  uint64_t first = 0, last = UINT64_MAX;
};

struct SampleSelection {
  uint64_t first = 0, last = UINT64_MAX;  // as in TimeSpan
  std::vector<uint32_t> cpus;             // empty: all
  std::vector<TimeSpan> spans;  // the parts of that time which are meant; empty: all of it

  bool HasAllTimes() const { return first == 0 && last == UINT64_MAX && spans.empty(); }
  bool HasAll() const { return HasAllTimes() && cpus.empty(); }
  bool HasTime(uint64_t time) const { return HasSpan({time, time}); }
  // All of a span.
  bool HasSpan(const TimeSpan& span) const {
    if (span.first < first || span.last > last) return false;
    return spans.empty() || std::any_of(spans.begin(), spans.end(), [&](const TimeSpan& part) {
             return part.first <= span.first && span.last <= part.last;
           });
  }
  // Any of it.
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
