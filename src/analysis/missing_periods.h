// Estimates the periods of missing samples from the samples next to each gap
// (profile::OrderedSample::weight). Without losses all estimates are 0.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/analysis/estimate/missing.h"
#include "src/profile/profile.h"

namespace profiler::analysis {

class MissingPeriods {
 public:
  // The profile must have the order of its samples, and must outlive this object. Linear in the
  // samples.
  MissingPeriods(const profile::Profile& profile, profile::EventId event);

  bool any() const { return !periods_.empty(); }
  // Returns the estimated period of the row's missing samples.
  double PeriodOf(size_t row) const { return any() ? periods_[row] : 0; }
  // Returns the part of the event's samples that is missing, from 0 to 1.
  double part() const;
  const estimate::Missing& chance() const { return chance_; }

 private:
  std::vector<double> periods_;  // indexed by row of the profile; empty if no sample is missing
  estimate::Missing chance_;
};

}  // namespace profiler::analysis
