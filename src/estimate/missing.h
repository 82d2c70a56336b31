// What chance can do to shares where samples are missing and others, near them, weigh more for it.
//
// Two things widen the interval. Samples of unequal weight tell as much as fewer equal ones, the
// more so for what is mostly met by heavy ones. And what ran in a gap is not known: it may have
// been one long visit, of which the samples around it tell nothing, or many short ones, that were
// shared out as everywhere else. How alike neighbours are (share.h) tells which: with the likeness
// r of neighbours, samples k apart are alike by r to the power of k, so a gap of m samples has the
// variance of
//
//   m + 2·Σ (m − k)·rᵏ   throws of dice
//
// The m of it are in the first of the two already. Where visits are far longer than the gap, both
// of its ends tell what ran in it: a change lies in it with a chance of 1 − r to the power of m.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/estimate/share.h"

namespace profiler::estimate {

// Not thread-safe while samples are added.
class Missing {
 public:
  // A sample that was taken. It stands for `weight` samples, at least 1, of which the others are
  // missing in gaps of so many.
  void Add(double weight, double gap);

  double taken() const { return taken_; }
  double samples() const { return missing_; }  // that are missing
  // Of what has `squares` of squared weights of its own in its samples, and this share by weight:
  // ShareInterval's, because of the weights. 1 where nothing is missing.
  double InequalityOf(double share, double squares) const;
  // ShareSamples::missing_variance.
  double VarianceOf(const ShareSamples& of) const;

 private:
  // Gaps that are about as long as each other.
  struct Gaps {
    double samples = 0;     // that are missing in them, by weight of those that stand for them
    double of_lengths = 0;  // the sum of the gaps' lengths, by the same
  };

  double taken_ = 0;
  double missing_ = 0;
  double squares_ = 0;         // of weights
  std::array<Gaps, 64> gaps_;  // by the logarithm of their length
};

}  // namespace profiler::estimate
