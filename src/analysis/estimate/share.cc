#include "src/analysis/estimate/share.h"

#include <algorithm>
#include <cmath>

namespace profiler::estimate {
namespace {

// 1.96 for a normal distribution; slightly more, because the variance is itself estimated.
constexpr double kQuantile95 = 2.05;

// Number of samples that is added for visits that the samples may have missed.
constexpr double kUnseen = 1;

// Returns the weight of the bound by correlation. It is 1 for nearly independent neighbours, whose
// remaining correlation may come from a load that is nearly in step, and 0 for long visits.
double WeightOfLikeness(double likeness) {
  constexpr double kAll = 0.15, kNone = 0.3;
  return std::clamp((kNone - likeness) / (kNone - kAll), 0.0, 1.0);
}

}  // namespace

double VarianceOfCount(const ShareSamples& of) {
  if (of.samples == 0) return 0;
  const auto n = static_cast<double>(of.samples);
  const double share = static_cast<double>(of.count) / n;
  const double of_dice = n * share * (1 - share);
  if (of_dice == 0) return kUnseen;
  const double d1 = static_cast<double>(of.changes) / 2;
  const double d2 = static_cast<double>(of.changes_at_two) / 2;
  const double alone = std::max(0.0, 2 * d1 - d2);
  const double ends = std::max(0.0, d2 - d1);
  double variance = alone + ends / 6;
  // A bound: the variance of a count in which only samples at most two apart are correlated. No
  // load with these D1 and D2 has more, unless it is in step with the sampler.
  const double of_neighbours = std::max(0.0, 3 * of_dice - (4 * d1 + 2 * d2) / 3);
  const double likeness = 1 - d1 / of_dice;
  const double of_likeness =
      std::min(of_dice * (1 + 2 * std::max(0.0, likeness)), std::max(of_neighbours, variance));
  variance = std::max(variance, WeightOfLikeness(likeness) * of_likeness);
  variance = std::min(variance, of_neighbours);
  return variance + kUnseen + of.beat_variance + of.missing_variance;
}

Interval ShareInterval(const ShareSamples& of, double share, double inequality) {
  if (of.samples == 0) return {};
  const auto n = static_cast<double>(of.samples);
  const double of_dice = static_cast<double>(of.count) * (1 - static_cast<double>(of.count) / n);
  // The ratio of the variance to the variance of independent samples.
  const double effect = of_dice == 0 ? 1 : VarianceOfCount(of) / of_dice;
  const double throws = n / effect / std::max(inequality, 1.0);
  const double z2 = kQuantile95 * kQuantile95;
  const double middle = (share + z2 / (2 * throws)) / (1 + z2 / throws);
  const double half = kQuantile95 / (1 + z2 / throws) *
                      std::sqrt(share * (1 - share) / throws + z2 / (4 * throws * throws));
  // Removes rounding errors at the bounds.
  return {of.count == 0 ? 0 : std::max(0.0, middle - half),
          of.count == of.samples ? 1 : std::min(1.0, middle + half)};
}

Interval PartlyEstimatedInterval(double share, double estimated, double samples) {
  if (estimated <= 0) return {share, share};
  // The smallest and the largest part of the estimate that may belong to the share.
  const double least = std::max(0.0, 1 - (1 - share) / estimated);
  const double most = std::min(1.0, share / estimated);
  const double part = std::clamp(0.5, least, most);
  const double throws = std::max(samples, 1.0);
  const double z2 = kQuantile95 * kQuantile95;
  // Wilson's interval of `part` is not centred on it. The larger of the two distances counts.
  const double middle = (part + z2 / (2 * throws)) / (1 + z2 / throws);
  const double half = kQuantile95 / (1 + z2 / throws) *
                      std::sqrt(part * (1 - part) / throws + z2 / (4 * throws * throws));
  const double error = estimated * (half + std::abs(middle - part));
  return {std::max(0.0, share - error), std::min(1.0, share + error)};
}

uint64_t SamplesToSeparate(const ShareSamples& a, const ShareSamples& b) {
  if (a.samples == 0 || b.samples == 0 || a.count == b.count) return 0;
  const auto n = static_cast<double>(a.samples);
  const double gap = std::abs(static_cast<double>(a.count) - static_cast<double>(b.count));
  const double halves =
      kQuantile95 * (std::sqrt(VarianceOfCount(a)) + std::sqrt(VarianceOfCount(b)));
  // With more samples, the gap between counts grows in proportion, and the intervals grow with its
  // square root.
  return static_cast<uint64_t>(std::ceil(n * (halves / gap) * (halves / gap)));
}

}  // namespace profiler::estimate
