// Which samples of a recording are looked at, whatever is then shown of them.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace profiler::profile {

struct SampleSelection {
  // In nanoseconds of the samples' clock; both ends are inside.
  uint64_t first = 0, last = UINT64_MAX;
  std::vector<uint32_t> cpus;  // empty: all

  bool HasAllTimes() const { return first == 0 && last == UINT64_MAX; }
  bool HasAll() const { return HasAllTimes() && cpus.empty(); }
  bool HasTime(uint64_t time) const { return first <= time && time <= last; }
  bool HasCpu(uint32_t cpu) const {
    return cpus.empty() || std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
  }
};

}  // namespace profiler::profile
