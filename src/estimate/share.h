// How far chance can have moved a share of samples.
//
// A sampler looks at what runs at equal distances. Which function it meets changes from sample to
// sample, and how often it does says how the function's visits lie beside that distance:
//
//   samples     |   |   |   |   |   |   |   |   |   |   |   |
//   long visits ####################....................####     each end of a visit is off by less
//                                                                than a distance: little error
//   short ones  #..#.##..#.....#.##.#..##...#...#.#..##.#..#     each sample falls as dice do: the
//                                                                error of so many throws
//
// So neither the formula for throws of dice is right (it is ten times too wide for long visits) nor
// the spread over pieces of the run (a load that drifts spreads and is counted exactly). With
//
//   D1 = half the neighbours of which one is in the function and the other is not
//   D2 = the same of samples two apart
//
// samples that stand alone add 1 to W = 2·D1 − D2 and each end of a longer visit adds ½ to
// E = D2 − D1, and an end that may lie anywhere between two samples has the variance 1/12 of a
// squared sample. So the variance of the count is W + E/6. It is bounded by what the neighbours'
// likeness allows, which matters for visits about as long as the distance, and has one sample added
// for what so few samples may not have shown. What it cannot see is a load that keeps in step with
// the sampler: beat.h.
//
// tools/estimate_experiment measures how often the interval has the truth, for many kinds of load,
// and how much narrower it could be.
//
// Pure functions; thread-safe.

#pragma once

#include <cstdint>

namespace profiler::estimate {

// Of the samples of one event, those in one function, or in whatever else is asked about.
struct ShareSamples {
  uint64_t samples = 0;
  uint64_t count = 0;           // of those in it
  uint64_t changes = 0;         // neighbours of which one is in it
  uint64_t changes_at_two = 0;  // samples two apart of which one is in it
  double beat_variance = 0;     // BeatVariance (beat.h)
  double missing_variance = 0;  // Missing::VarianceOf (missing.h)
};

// Of `count`, in squared samples.
double VarianceOfCount(const ShareSamples& of);

// Shares are from 0 to 1.
struct Interval {
  double low = 0, high = 1;

  double half_width() const { return (high - low) / 2; }
  bool Overlaps(const Interval& other) const { return low <= other.high && other.low <= high; }
};

// Has the true share in 95 of 100 runs. `share` is that by weight, which is the count's where all
// samples weigh the same; `inequality` is how many times as many samples it takes because they do
// not: n·Σw²/(Σw)², 1 at least. Wilson's interval, for as many throws of dice as would have the
// same variance. Without samples it is all from 0 to 1.
Interval ShareInterval(const ShareSamples& of, double share, double inequality = 1);

// Has the true share in 95 of 100 runs, where all but `estimated` of the whole (from 0 to 1) was
// counted, and that part was taken from `samples` samples that fall as dice do. How much of it is
// in the share is not known, so the least favourable amount counts.
Interval PartlyEstimatedInterval(double share, double estimated, double samples);

// How many samples, of the present kind, it would take until the two intervals did not overlap any
// more, if the shares stay what they are; 0 where no number would.
uint64_t SamplesToSeparate(const ShareSamples& a, const ShareSamples& b);

}  // namespace profiler::estimate
