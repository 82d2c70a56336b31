// How far the shares of functions vary from run to run of one program.
//
// Few runs tell that badly for one function, but hundreds of functions together tell how far runs
// vary beyond what their own samples explain; each function's variance is drawn towards that
// (Smyth, "Linear models and empirical Bayes methods", 2004).
//
// Pure functions; thread-safe.

#pragma once

#include <span>
#include <vector>

#include "src/estimate/share.h"

namespace profiler::estimate {

// A function's share of one run.
struct RunShare {
  ShareSamples samples;
  double share = 0;               // by weight
  double inequality = 1;          // ShareInterval
  std::span<const float> excess;  // by slice: ExcessOf; empty where there are few samples
};

// Of a run's share, by its own samples.
double VarianceOfShare(const RunShare& run);

double MeanOf(std::span<const RunShare> runs);
double SquaresAround(double mean, std::span<const RunShare> runs);

// Of one function's share, in squared shares.
struct VarianceSeen {
  double between_runs = 0;
  double by_samples = 0;  // what the runs' own samples explain: the mean of VarianceOfShare
};

struct RunVariance {
  double variance = 0;
  double freedom = 0;  // degrees of it
  // The function differs more from run to run than chance explains (once in twenty times) if it did
  // as the others do.
  bool is_restless = false;
};

// By function. Each variance between runs was seen with `freedom` degrees of freedom, more than 0.
// Fewer than three functions have nothing in common, and each has what was seen of it.
std::vector<RunVariance> DrawnTogether(std::span<const VarianceSeen> functions, double freedom);

}  // namespace profiler::estimate
