// Widens intervals because of missing samples. Samples next to a gap weigh more, because they stand
// for the missing ones.
//
// Missing samples widen an interval in two ways. First, samples of unequal weight are worth fewer
// samples of equal weight, the more so for a function that is mostly in heavy samples. Second,
// nobody knows which code ran in a gap: one long visit, about which the samples around the gap say
// nothing, or many short visits, distributed as everywhere else. The correlation of neighbouring
// samples (share.h) decides between these. If neighbours have correlation r, samples k apart have
// correlation rᵏ, so a gap of m samples has the variance of
//
//   m + 2·Σ (m − k)·rᵏ   independent samples
//
// The term m is already covered by the first way. If visits are far longer than the gap, both of
// its ends show what ran in it: a change lies in the gap with probability 1 − rᵐ.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/analysis/estimate/share.h"

namespace profiler::estimate {

// The gaps of one event's samples. Not thread-safe while samples are added.
class Missing {
 public:
  // Adds a taken sample that stands for `weight` samples (at least 1): itself and missing samples.
  // Each gap has `gap` missing samples.
  void Add(double weight, double gap);

  double taken() const { return taken_; }
  double samples() const { return missing_; }  // number of missing samples
  // Returns the inequality of weights for ShareInterval; 1 if no sample is missing. The function
  // has this share by weight, and the squared weights of its samples add up to `squares`.
  double InequalityOf(double share, double squares) const;
  // Returns the value of ShareSamples::missing_variance.
  double VarianceOf(const ShareSamples& of) const;

 private:
  // Gaps of similar length.
  struct Gaps {
    // Number of missing samples, each multiplied by the weight of the sample that stands for it.
    double samples = 0;
    // Sum of the lengths of these samples' gaps, multiplied by the same weights.
    double of_lengths = 0;
  };

  double taken_ = 0;
  double missing_ = 0;
  double squares_ = 0;         // squared weights
  std::array<Gaps, 64> gaps_;  // [n]: gaps with a length of about 2^n
};

}  // namespace profiler::estimate
