// Estimates how far the shares of functions vary from run to run of one program.
//
// A few runs measure the variance of one function badly. Hundreds of functions together show how
// far runs vary beyond the error of their samples. So each function's variance is drawn towards
// that common value (Smyth, "Linear models and empirical Bayes methods", 2004).
//
// The functions are pure and thread-safe.

#pragma once

#include <span>
#include <vector>

#include "src/analysis/estimate/share.h"

namespace profiler::estimate {

// A function's share in one run.
struct RunShare {
  ShareSamples samples;
  double share = 0;               // share of the samples' weight
  double inequality = 1;          // argument of ShareInterval
  std::span<const float> excess;  // [n]: for slice n (ExcessOf); empty for few samples
};

// Returns the variance of a run's share that its samples explain.
double VarianceOfShare(const RunShare& run);

double MeanOf(std::span<const RunShare> runs);
double SquaresAround(double mean, std::span<const RunShare> runs);

// The observed variances of one function's share, in squared shares.
struct VarianceSeen {
  double between_runs = 0;
  double by_samples = 0;  // explained by the runs' samples: mean of VarianceOfShare
};

struct RunVariance {
  double variance = 0;
  double freedom = 0;  // degrees of freedom of `variance`
  // True if the function varies more from run to run than other functions do; by chance one in
  // twenty functions does.
  bool has_high_variance = false;
};

// Returns the variance of each function, drawn towards the common value. Each variance between runs
// has `freedom` degrees of freedom, more than 0. Fewer than three functions have no common value;
// each keeps its own variance.
std::vector<RunVariance> ShrunkVariances(std::span<const VarianceSeen> functions, double freedom);

}  // namespace profiler::estimate
