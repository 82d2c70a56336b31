// A function's value on each host, with its expected error.
//
// The functions are pure and thread-safe.

#pragma once

#include <span>
#include <vector>

namespace profiler::fleet {

struct HostValue {
  double value = 0;
  double sampled = 0;  // variance explained by the host's samples
  // Square of the usual value: the variance between hosts is proportional to it.
  double squared = 0;
  double of_scale = 0;  // variance explained by the error of the host's scale

  // Returns the expected variance. `unlike` is the variation between hosts, relative to a
  // function's share (HeterogeneityOf).
  double Expected(double unlike) const { return sampled + of_scale + unlike * unlike * squared; }
};

// Returns the value of a function with share `share` on a host with this number of samples and this
// scale. `usual` is its share on the hosts of both groups.
HostValue ValueOf(double share, double usual, double samples, double scale, double scale_error);
// Returns b − a, the difference of one machine.
HostValue DifferenceOf(const HostValue& a, const HostValue& b);

// A weighted mean: the smaller a value's expected variance, the larger its weight.
struct HostMean {
  double mean = 0;
  double weight = 0;  // 1 / expected variance of the mean
};
HostMean MeanOf(std::span<const HostValue> values, double unlike);

// Returns the sum of squared distances from `middle`, each divided by its expected variance.
double SquaresAround(double middle, std::span<const HostValue> values, double unlike);

// Returns the part of the expected variance that is the sampling error. The true variation between
// hosts is never smaller.
double LeastVariance(std::span<const HostValue> values, double unlike);

// A function's values on two groups of hosts. For pairs, `before` is empty and `after` has the
// differences.
struct FunctionValues {
  std::vector<HostValue> before, after;
};

// Estimates how much functions vary between hosts, as a fraction of their shares: half of the large
// functions vary less than that, and half vary more. `freedom`: degrees of freedom of each
// function's values.
double HeterogeneityOf(std::span<const FunctionValues> functions, double freedom);

}  // namespace profiler::fleet
