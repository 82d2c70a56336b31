// How much of an event's samples each key has, and what is needed to say how far chance can have
// moved that.

#pragma once

#include <algorithm>
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
  double missing = 0;         // what its samples that are missing would have added to the period
  double inequality = 1;      // of its samples' weights: estimate::ShareInterval
  std::vector<float> excess;  // by slice of the run: estimate::ExcessOf; empty where there are few
};

// Of one event.
struct Measurement {
  uint64_t samples = 0;
  uint64_t period = 0;
  double missing = 0;       // as in Measured
  double missing_part = 0;  // of the samples, from 0 to 1
  double inequality = 1;    // of the samples' periods
  // Each sample is of one occurrence, and all are there: no chance is in the figures.
  bool is_count = false;
  // Part of the period, from 0 to 1, that is of context switches without a stack of their own, and
  // as many samples tell their stacks. 0: there is none, or samples are missing as well.
  double estimated = 0;
  double estimated_samples = 0;
  std::vector<Measured> self, total;  // by key

  // Samples that are missing count as those next to them.
  double ShareOf(const Measured& of) const {
    if (period == 0) return 0;
    const double all = static_cast<double>(period) + missing;
    // Sums of fractions are rounded.
    return std::min(1.0, (static_cast<double>(of.period) + of.missing) / all);
  }
  estimate::Interval IntervalOf(const Measured& of) const;
  // How many samples would tell which of the two has more, where their intervals overlap; 0 where
  // they do not, or no number would.
  uint64_t SamplesToTell(const Measured& a, const Measured& b) const;
};

// The profile has the order of its samples (Profile::order). Linear in the samples' keys.
Measurement Measure(const profile::Profile& profile, profile::EventId event,
                    const SampleKeys& keys);

}  // namespace profiler::query
