// What the samples of an event that are missing would have added, as the samples next to each gap
// tell (profile::OrderedSample::weight). Without losses all of it is nothing.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/estimate/missing.h"
#include "src/profile/profile.h"

namespace profiler::query {

class MissingPeriods {
 public:
  // The profile has the order of its samples, and must outlive this. Linear in them.
  MissingPeriods(const profile::Profile& profile, profile::EventId event);

  bool any() const { return !periods_.empty(); }
  // What is missing from a row, as a period of the event.
  double PeriodOf(size_t row) const { return any() ? periods_[row] : 0; }
  // The part of the event's samples that is missing, from 0 to 1.
  double part() const;
  const estimate::Missing& chance() const { return chance_; }

 private:
  std::vector<double> periods_;  // by row of the profile; empty where nothing is missing
  estimate::Missing chance_;
};

}  // namespace profiler::query
