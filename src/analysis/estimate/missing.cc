#include "src/analysis/estimate/missing.h"

#include <algorithm>
#include <cmath>

namespace profiler::estimate {
namespace {

// The correlation of samples: `next` for neighbours, times `fades` for each further step. Bursts of
// short visits have a low `next` and a high `fades`.
struct Likeness {
  double next = 0, fades = 0;
};

Likeness LikenessOf(const ShareSamples& of, double of_dice) {
  const auto at = [of_dice](uint64_t changes) {
    return 1 - static_cast<double>(changes) / 2 / of_dice;
  };
  const double next = at(of.changes), at_two = at(of.changes_at_two);
  // Correlation that independent samples show by chance.
  const double by_chance = 2 / std::sqrt(static_cast<double>(of.samples));
  if (next <= by_chance) return {};
  return {std::min(next, 1.0), std::clamp(at_two / next, 0.0, 1.0)};
}

// Returns the relative additional variance of a missing sample because of the others in its gap:
// twice the sum of (1 − k/m) times the correlation at k, over all k below m.
double OfOthersInGap(double length, const Likeness& likeness) {
  if (length <= 1) return 0;
  const double apart = 1 - likeness.fades;
  // With perfect correlation the formula would divide 0 by 0.
  if (apart * length < 1e-4) return likeness.next * (length - 1);
  const double at_end = std::pow(likeness.fades, length);
  return 2 * likeness.next * std::max(0.0, 1 / apart - (1 - at_end) / (length * apart * apart));
}

}  // namespace

void Missing::Add(double weight, double gap) {
  const double more = weight - 1;
  taken_ += 1;
  missing_ += more;
  squares_ += weight * weight;
  if (more <= 0) return;
  const int exponent = std::ilogb(std::max(gap, 1.0));
  Gaps& of = gaps_[std::min<size_t>(static_cast<size_t>(exponent), gaps_.size() - 1)];
  // Multiplied by `weight`, because one sample stands for `weight` samples, so it has that many
  // times more influence.
  of.samples += more * weight;
  of.of_lengths += more * weight * gap;
}

double Missing::InequalityOf(double share, double squares) const {
  if (missing_ <= 0) return 1;
  const double all = taken_ + missing_;
  const double of_dice = share * (1 - share);
  if (of_dice <= 0) return taken_ * squares_ / (all * all);
  const double of_weights =
      (1 - share) * (1 - share) * squares + share * share * std::max(0.0, squares_ - squares);
  return std::max(1.0, taken_ * of_weights / (all * all * of_dice));
}

double Missing::VarianceOf(const ShareSamples& of) const {
  if (missing_ <= 0 || of.samples == 0) return 0;
  const auto n = static_cast<double>(of.samples);
  const double share = static_cast<double>(of.count) / n;
  const double of_dice = share * (1 - share);
  if (of_dice == 0) return 0;
  const Likeness likeness = LikenessOf(of, n * of_dice);
  double variance = 0;
  for (const Gaps& gaps : gaps_) {
    if (gaps.samples == 0) continue;
    const double length = gaps.of_lengths / gaps.samples;
    const double may_have_changed = 1 - std::pow(likeness.fades, length);
    variance += gaps.samples * may_have_changed * OfOthersInGap(length, likeness);
  }
  // Converts the variance to the scale of the taken samples, and divides it by the inequality of
  // the weights, which multiplies it again later.
  const double all = taken_ + missing_;
  const double inequality = std::max(1.0, taken_ * squares_ / (all * all));
  return of_dice * variance * (n / all) * (n / all) / inequality;
}

}  // namespace profiler::estimate
