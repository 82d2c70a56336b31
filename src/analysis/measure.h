// Measures each key's share of an event's samples, and the statistical error of that share.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/analysis/estimate/share.h"
#include "src/analysis/sample_keys.h"
#include "src/profile/profile.h"

namespace profiler::analysis {

// The samples of one key.
struct Measured {
  estimate::ShareSamples samples;
  uint64_t period = 0;
  double missing = 0;     // estimated period of its missing samples
  double inequality = 1;  // inequality of the samples' weights (estimate::ShareInterval)
  // Result of estimate::ExcessOf: [n] is for slice n of the run. Empty for few samples.
  std::vector<float> excess;
};

// The measurements of one event.
struct Measurement {
  uint64_t samples = 0;
  uint64_t period = 0;
  double missing = 0;       // estimated period of the missing samples
  double missing_part = 0;  // part of the samples that is missing, from 0 to 1
  double inequality = 1;    // inequality of the samples' periods
  // True if each sample is one occurrence and none is missing: counts are exact.
  bool is_count = false;
  // The part of the period, from 0 to 1, that belongs to context switches without their own stack.
  // `estimated_samples` is the number of samples from which their stacks are estimated. 0 if all
  // switches have a stack, or if samples are missing too.
  double estimated = 0;
  double estimated_samples = 0;
  std::vector<Measured> self, total;  // indexed by key

  // Returns the key's share, from 0 to 1. Missing samples count like the samples next to them.
  double ShareOf(const Measured& of) const {
    if (period == 0) return 0;
    const double all = static_cast<double>(period) + missing;
    // Limits the rounding error of sums of fractions.
    return std::min(1.0, (static_cast<double>(of.period) + of.missing) / all);
  }
  estimate::Interval IntervalOf(const Measured& of) const;
  // Returns the number of samples with which the intervals of the two keys would no longer overlap.
  // Returns 0 if they do not overlap now, or if no number of samples would suffice.
  uint64_t SamplesToTell(const Measured& a, const Measured& b) const;
};

// Measures an event. The profile must have the order of its samples (Profile::order). Linear in the
// samples' keys.
Measurement Measure(const profile::Profile& profile, profile::EventId event,
                    const SampleKeys& keys);

}  // namespace profiler::analysis
