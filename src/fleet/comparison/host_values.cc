#include "src/fleet/comparison/host_values.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <cstddef>
#include <functional>

namespace profiler::fleet {
namespace {

double Freedom(std::span<const HostValue> values) {
  return values.empty() ? 0 : static_cast<double>(values.size()) - 1;
}

// Returns the squared difference of two single hosts, divided by its expected variance. It has one
// degree of freedom.
double SquareOfDifference(const FunctionValues& of, double unlike) {
  const HostValue& a = of.before[0];
  const HostValue& b = of.after[0];
  const double difference = b.value - a.value;
  return difference * difference / (a.Expected(unlike) + b.Expected(unlike));
}

double VarianceOf(const FunctionValues& of, double unlike) {
  const double freedom = Freedom(of.before) + Freedom(of.after);
  if (freedom == 0) return of.before.empty() ? 1 : SquareOfDifference(of, unlike);
  double squares = 0;
  for (const std::span<const HostValue> group : {std::span(of.before), std::span(of.after)}) {
    if (!group.empty()) squares += SquaresAround(MeanOf(group, unlike).mean, group, unlike);
  }
  return squares / freedom;
}

using Chosen = std::vector<const FunctionValues*>;

// Returns the functions with the largest values: a quarter of all functions. The other functions
// have so few samples that the sampling error hides the variation between hosts.
Chosen LargestOf(std::span<const FunctionValues> functions) {
  constexpr size_t kFewest = 20;
  Chosen chosen;
  for (const FunctionValues& of : functions) chosen.push_back(&of);
  const size_t count = std::min(chosen.size(), std::max(kFewest, chosen.size() / 4));
  std::ranges::partial_sort(
      chosen, chosen.begin() + static_cast<ptrdiff_t>(count), std::greater(),
      [](const FunctionValues* of) { return of->after.empty() ? 0 : of->after[0].squared; });
  chosen.resize(count);
  return chosen;
}

double MedianVariance(const Chosen& functions, double unlike) {
  std::vector<double> variances;
  for (const FunctionValues* of : functions) variances.push_back(VarianceOf(*of, unlike));
  const auto middle = variances.begin() + static_cast<ptrdiff_t>(variances.size() / 2);
  std::nth_element(variances.begin(), middle, variances.end());
  return *middle;
}

}  // namespace

// Treats samples as independent, because nothing else is known about them. Adds the square of one
// sample to the variance, because one sample more or less is always possible.
HostValue ValueOf(double share, double usual, double samples, double scale, double scale_error) {
  const double scaled = samples * scale;
  const double part = std::min(usual, 1.0);
  return {.value = share / scale,
          .sampled = part * (1 - part) / scaled + 1 / (scaled * scaled),
          .squared = usual * usual,
          .of_scale = usual * usual * scale_error};
}

HostValue DifferenceOf(const HostValue& a, const HostValue& b) {
  return {.value = b.value - a.value,
          .sampled = a.sampled + b.sampled,
          .squared = a.squared + b.squared,
          .of_scale = a.of_scale + b.of_scale};
}

HostMean MeanOf(std::span<const HostValue> values, double unlike) {
  HostMean result;
  for (const HostValue& of : values) {
    const double weight = 1 / of.Expected(unlike);
    result.mean += weight * of.value;
    result.weight += weight;
  }
  result.mean /= result.weight;
  return result;
}

double SquaresAround(double middle, std::span<const HostValue> values, double unlike) {
  double sum = 0;
  for (const HostValue& of : values) {
    const double off = of.value - middle;
    sum += off * off / of.Expected(unlike);
  }
  return sum;
}

double LeastVariance(std::span<const HostValue> values, double unlike) {
  double expected = 0, sampled = 0;
  for (const HostValue& of : values) {
    expected += 1 / of.Expected(unlike);
    sampled += 1 / (of.sampled + of.of_scale);
  }
  return expected / sampled;
}

double HeterogeneityOf(std::span<const FunctionValues> functions, double freedom) {
  if (functions.empty()) return 0;
  const boost::math::chi_squared squares(freedom);
  const double usual = boost::math::median(squares) / freedom;
  const Chosen largest = LargestOf(functions);
  double least = 0, most = 4;
  if (MedianVariance(largest, least) <= usual) return least;
  constexpr int kSteps = 24;
  for (int i = 0; i < kSteps; ++i) {
    const double middle = (least + most) / 2;
    (MedianVariance(largest, middle) > usual ? least : most) = middle;
  }
  return most;
}

}  // namespace profiler::fleet
