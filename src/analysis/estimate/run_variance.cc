#include "src/analysis/estimate/run_variance.h"

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <limits>

#include "src/analysis/estimate/students_t.h"

namespace profiler::estimate {
namespace {

namespace math = boost::math;

// The common part of the variances. `ratio`: how far shares vary between runs beyond the error of
// the samples. `freedom`: how alike the functions are in this respect.
struct Prior {
  double ratio = 1;
  double freedom = 0;
};

// Returns x with trigamma(x) = value.
double InverseTrigamma(double value) {
  if (value > 1e7) return 1 / std::sqrt(value);
  if (value < 1e-6) return 1 / value;
  double x = 0.5 + 1 / value;
  for (int i = 0; i < 50; ++i) {
    const double at = math::trigamma(x);
    // Newton's method on 1/trigamma, which is nearly linear.
    const double slope = (math::trigamma(x * 1.0001) - at) / (x * 0.0001);
    const double step = at * (1 - at / value) / slope;
    x += step;
    if (std::abs(step) < 1e-8 * x) break;
  }
  return x;
}

Prior PriorOf(std::span<const double> ratios, double freedom) {
  if (ratios.size() < 3) return {};
  double mean = 0;
  std::vector<double> logs;
  for (const double ratio : ratios) {
    logs.push_back(std::log(std::max(ratio, 1e-12)) - math::digamma(freedom / 2) +
                   std::log(freedom / 2));
    mean += logs.back();
  }
  mean /= static_cast<double>(logs.size());
  double variance = 0;
  for (const double log : logs) variance += (log - mean) * (log - mean);
  variance = variance / static_cast<double>(logs.size() - 1) - math::trigamma(freedom / 2);
  // Limits the freedom: all functions together have no more of it than their runs.
  const double most = freedom * static_cast<double>(ratios.size());
  // The functions differ no more than equal variances would by chance.
  if (variance <= 0) return {.ratio = std::exp(mean), .freedom = most};
  Prior prior;
  prior.freedom = std::min(2 * InverseTrigamma(variance), most);
  prior.ratio = std::exp(mean + math::digamma(prior.freedom / 2) - std::log(prior.freedom / 2));
  return prior;
}

// Returns the ratio that one function in twenty exceeds by chance.
double LargestUsualRatio(const Prior& prior, double freedom) {
  // The functions have almost nothing in common.
  if (prior.freedom < 1) return std::numeric_limits<double>::infinity();
  return prior.ratio * math::quantile(math::fisher_f(freedom, prior.freedom), 0.95);
}

}  // namespace

double VarianceOfShare(const RunShare& run) {
  const auto n = static_cast<double>(run.samples.samples);
  return n == 0 ? 1 : VarianceOfCount(run.samples) * std::max(run.inequality, 1.0) / (n * n);
}

double MeanOf(std::span<const RunShare> runs) {
  double sum = 0;
  for (const RunShare& run : runs) sum += run.share;
  return sum / static_cast<double>(runs.size());
}

double SquaresAround(double mean, std::span<const RunShare> runs) {
  double sum = 0;
  for (const RunShare& run : runs) sum += (run.share - mean) * (run.share - mean);
  return sum;
}

std::vector<RunVariance> ShrunkVariances(std::span<const VarianceSeen> functions, double freedom) {
  std::vector<double> ratios;
  for (const VarianceSeen& seen : functions) {
    ratios.push_back(seen.between_runs / seen.by_samples);
  }
  const Prior prior = PriorOf(ratios, freedom);
  const double usual = LargestUsualRatio(prior, freedom);
  std::vector<RunVariance> drawn;
  for (size_t i = 0; i < functions.size(); ++i) {
    const double ratio =
        (prior.freedom * prior.ratio + freedom * ratios[i]) / (prior.freedom + freedom);
    drawn.push_back({.variance = ratio * functions[i].by_samples,
                     .freedom = std::min(prior.freedom + freedom, kMostFreedom),
                     .has_high_variance = ratios[i] > usual});
  }
  return drawn;
}

}  // namespace profiler::estimate
