// What a function has on each of some hosts, and how far that is expected to be off.
//
// Pure; thread-safe.

#pragma once

#include <span>
#include <vector>

namespace profiler::estimate {

struct HostValue {
  double value = 0;
  double sampled = 0;  // variance that the host's samples explain
  double squared = 0;  // the usual value's square, which variance between hosts is in proportion to
  double of_scale = 0;  // variance by that of the host's scale

  double Expected(double unlike) const { return sampled + of_scale + unlike * unlike * squared; }
};

// Of a function that has `usual` on the hosts of both groups, on a host with so many samples that
// are worth `scale` times as much.
HostValue ValueOf(double share, double usual, double samples, double scale, double scale_error);
// b − a, of one machine.
HostValue DifferenceOf(const HostValue& a, const HostValue& b);

// The mean of values that count by how exactly they are known.
struct HostMean {
  double mean = 0;
  double weight = 0;  // 1 / its expected variance
};
HostMean MeanOf(std::span<const HostValue> values, double unlike);

// Of the squares around `middle`, in expected variances.
double SquaresAround(double middle, std::span<const HostValue> values, double unlike);

// What the samples alone explain of the variance that is expected: no hosts differ by less.
double LeastVariance(std::span<const HostValue> values, double unlike);

// A function's values on two groups of hosts; of pairs `before` has none and `after` the
// differences.
struct FunctionValues {
  std::vector<HostValue> before, after;
};

// How unlike hosts are, in shares of the share: so that half of all functions differ as expected.
// `freedom`: degrees of it that a function's values have.
double UnlikenessOf(std::span<const FunctionValues> functions, double freedom);

}  // namespace profiler::estimate
