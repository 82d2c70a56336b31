// Estimates the statistical error of a share of samples.
//
// A sampler looks at the running code at equal distances. How often the function changes between
// samples shows how long its visits are compared with that distance:
//
//   samples      |   |   |   |   |   |   |   |   |   |   |   |
//   long visits  ####################....................####    each end of a visit is off by less
//                                                                than one distance: little error
//   short visits #..#.##..#.....#.##.#..##...#...#.#..##.#..#    samples are independent: the
//                                                                error of a binomial count
//
// So the binomial formula is wrong: it is ten times too wide for long visits. The spread over
// pieces of the run is wrong too, because a load that drifts is spread but counted exactly. With
//
//   D1 = half the number of pairs of neighbouring samples with exactly one in the function
//   D2 = half the number of pairs of samples two apart with exactly one in the function
//
// a sample that stands alone adds 1 to W = 2·D1 − D2, and each end of a longer visit adds ½ to E =
// D2 − D1. An end can lie anywhere between two samples, so it has a variance of 1/12 squared
// samples. So the variance of the count is W + E/6. A bound from the correlation of neighbours
// limits that variance, which matters for visits about as long as the distance. One sample is added
// for visits that the samples may have missed. A load that keeps in step with the sampler is
// not covered: see beat.h.
//
// tools/estimate_experiment measures how often the interval contains the truth, for many kinds of
// load. It also measures how much narrower the interval could be.
//
// The functions are pure and thread-safe.

#pragma once

#include <cstdint>

namespace profiler::estimate {

// Counts of an event's samples, and of its samples in one function (or in any other set).
struct ShareSamples {
  uint64_t samples = 0;         // all samples of the event
  uint64_t count = 0;           // samples in the function
  uint64_t changes = 0;         // pairs of neighbours with exactly one in the function
  uint64_t changes_at_two = 0;  // pairs of samples two apart with exactly one in the function
  double beat_variance = 0;     // BeatVariance (beat.h)
  double missing_variance = 0;  // Missing::VarianceOf (missing.h)
};

// Returns the variance of `count`, in squared samples.
double VarianceOfCount(const ShareSamples& of);

// An interval of a share; both bounds are from 0 to 1.
struct Interval {
  double low = 0, high = 1;

  double half_width() const { return (high - low) / 2; }
  bool Overlaps(const Interval& other) const { return low <= other.high && other.low <= high; }
};

// Returns the interval that contains the true share in 95 of 100 runs. Without samples it is 0 to
// 1. `share` is the function's share of the weight; it equals the share of the samples if all
// samples weigh the same. `inequality` is the factor by which unequal weights reduce the effective
// number of samples: n·Σw²/(Σw)², at least 1. The interval is Wilson's, for the number of
// independent samples with the same variance.
Interval ShareInterval(const ShareSamples& of, double share, double inequality = 1);

// Returns the interval that contains the true share in 95 of 100 runs, if the part `estimated` of
// the whole (from 0 to 1) was estimated from `samples` independent samples, and the rest was
// counted. How much of the part belongs to the share is unknown, so the least favourable amount
// counts.
Interval PartlyEstimatedInterval(double share, double estimated, double samples);

// Returns the total number of samples at which the two intervals would no longer overlap, if the
// shares do not change; 0 if there is no such number.
uint64_t SamplesToSeparate(const ShareSamples& a, const ShareSamples& b);

}  // namespace profiler::estimate
