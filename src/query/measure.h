// How much of an event's samples each key has, and what is needed to say how far chance can have
// moved that.

#pragma once

#include <cstdint>
#include <vector>

#include "src/estimate/share.h"
#include "src/profile/profile.h"
#include "src/query/sample_keys.h"

namespace profiler::query {

// One key's part of the samples.
struct Measured {
  estimate::ShareSamples samples;
  uint64_t period = 0;
  std::vector<float> excess;  // by slice of the run: estimate::ExcessOf; empty where there are few
};

// Of one event.
struct Measurement {
  uint64_t samples = 0;
  uint64_t period = 0;
  double inequality = 1;  // of the samples' weights: estimate::ShareInterval
  // Each sample is of one occurrence, and all are there: no chance is in the figures.
  bool is_count = false;
  std::vector<Measured> self, total;  // by key

  double ShareOf(const Measured& of) const {
    return period == 0 ? 0 : static_cast<double>(of.period) / static_cast<double>(period);
  }
  estimate::Interval IntervalOf(const Measured& of) const;
};

// The profile has the order of its samples (Profile::order). Linear in the samples' keys.
Measurement Measure(const profile::Profile& profile, profile::EventId event,
                    const SampleKeys& keys);

}  // namespace profiler::query
