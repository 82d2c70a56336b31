// The weight of samples: their number and the sum of their periods.

#pragma once

#include <cstdint>

#include "src/profile/profile.h"

namespace profiler::analysis {

struct Weight {
  uint64_t period = 0;
  uint64_t count = 0;

  Weight& operator+=(const Weight& other) {
    period += other.period;
    count += other.count;
    return *this;
  }
  Weight& operator-=(const Weight& other) {
    period -= other.period;
    count -= other.count;
    return *this;
  }
  friend Weight operator-(Weight a, const Weight& b) { return a -= b; }
  bool operator==(const Weight&) const = default;
};

inline Weight WeightOf(const profile::Row& row) {
  return {.period = row.period, .count = row.count};
}

}  // namespace profiler::analysis
