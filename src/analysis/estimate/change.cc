#include "src/analysis/estimate/change.h"

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <numeric>

#include "src/analysis/estimate/students_t.h"

namespace profiler::estimate {
namespace {

namespace math = boost::math;

// Splits a run's share into the parts that `count` pieces of the run contribute. A piece joins
// several slices.
std::vector<double> Pieces(const RunShare& run, size_t count) {
  std::vector<double> pieces(count, run.share / static_cast<double>(count));
  const auto samples = static_cast<double>(run.samples.samples);
  for (size_t i = 0; i < run.excess.size(); ++i) {
    // The average weight of the function's samples, as a share.
    const double weight =
        run.samples.count == 0 ? 0 : run.share * samples / static_cast<double>(run.samples.count);
    pieces[i * count / run.excess.size()] += run.excess[i] * weight / samples;
  }
  return pieces;
}

// Returns the variance of after − before, from its variation between `count` pieces of the runs.
double VarianceByPieces(const RunShare& before, const RunShare& after, size_t count) {
  std::vector<double> difference = Pieces(after, count);
  const std::vector<double> first = Pieces(before, count);
  for (size_t i = 0; i < count; ++i) difference[i] -= first[i];
  const auto pieces = static_cast<double>(count);
  const double mean = std::accumulate(difference.begin(), difference.end(), 0.0) / pieces;
  double squares = 0;
  for (const double piece : difference) squares += (piece - mean) * (piece - mean);
  return squares / (pieces - 1) * pieces;
}

struct Spread {
  double variance = 0;
  double freedom = kMostFreedom;
};

// Returns the spread by short pieces, which measure the variance better. If phases last longer than
// a short piece, long pieces vary significantly more. Then returns the spread by long pieces.
Spread SpreadByPieces(const RunShare& before, const RunShare& after) {
  constexpr size_t kShort = 64, kLong = 16;
  if (std::max(before.excess.size(), after.excess.size()) < kShort) return {};
  const double by_short = VarianceByPieces(before, after, kShort);
  const double by_long = VarianceByPieces(before, after, kLong);
  const double chance_bound =
      math::quantile(math::fisher_f(kLong - 1, kShort - 1), 0.95) * by_short;
  if (by_long > chance_bound) return {by_long, kLong - 1};
  return {by_short, kShort - 1};
}

// Returns the p-value of the counts. It is for few samples, whose variances say little. Counts each
// run as the number of independent samples with the same variance.
double ChanceOfCounts(const RunShare& before, const RunShare& after) {
  const auto effective = [](const RunShare& run) {
    const auto count = static_cast<double>(run.samples.count);
    const double effect = count == 0 ? 1 : VarianceOfCount(run.samples) / count;
    return count / std::clamp(effect, 0.25, 1e6) / std::max(run.inequality, 1.0);
  };
  const auto n_before = static_cast<double>(before.samples.samples);
  const auto n_after = static_cast<double>(after.samples.samples);
  return ChanceOfParting(effective(before), effective(after), n_after / (n_before + n_after));
}

double MeanVarianceOfShares(const Groups& groups) {
  double sum = 0;
  for (const RunShare& run : groups.before) sum += VarianceOfShare(run);
  for (const RunShare& run : groups.after) sum += VarianceOfShare(run);
  return sum / static_cast<double>(groups.before.size() + groups.after.size());
}

}  // namespace

double ChanceOfParting(double before, double after, double expected) {
  constexpr double kMany = 100;
  if (before + after > kMany) return 0;
  if (before + after == 0) return 1;
  // The tails of the binomial distribution, also for fractional counts.
  const double at_least = after == 0 ? 1 : math::ibeta(after, before + 1, expected);
  const double at_most = before == 0 ? 1 : math::ibetac(after + 1, before, expected);
  return std::min(1.0, 2 * std::min(at_least, at_most));
}

double Change::half_width() const { return HalfWidth95(error, freedom); }

Change ChangeOf(const RunShare& before, const RunShare& after) {
  Change change{.before = before.share, .after = after.share};
  const double sampled = VarianceOfShare(before) + VarianceOfShare(after);
  const Spread spread = SpreadByPieces(before, after);
  const bool varies = spread.variance > sampled;
  change.freedom = varies ? spread.freedom : kMostFreedom;
  change.error = std::sqrt(varies ? spread.variance : sampled);
  change.chance = std::max(ChanceBeyond(change.difference() / change.error, change.freedom),
                           ChanceOfCounts(before, after));
  return change;
}

std::vector<Change> ChangesOf(std::span<const Groups> functions) {
  std::vector<Change> changes;
  if (functions.empty()) return changes;
  const size_t before = functions[0].before.size(), after = functions[0].after.size();
  const auto freedom = static_cast<double>(before + after) - 2;
  if (freedom == 0) {
    for (const Groups& of : functions) changes.push_back(ChangeOf(of.before[0], of.after[0]));
    return changes;
  }
  std::vector<VarianceSeen> seen;
  for (const Groups& of : functions) {
    Change change{.before = MeanOf(of.before), .after = MeanOf(of.after)};
    const double squares =
        SquaresAround(change.before, of.before) + SquaresAround(change.after, of.after);
    seen.push_back({.between_runs = squares / freedom, .by_samples = MeanVarianceOfShares(of)});
    changes.push_back(change);
  }
  const std::vector<RunVariance> drawn = ShrunkVariances(seen, freedom);
  const double runs = 1 / static_cast<double>(before) + 1 / static_cast<double>(after);
  for (size_t i = 0; i < functions.size(); ++i) {
    Change& change = changes[i];
    change.freedom = drawn[i].freedom;
    change.error = std::sqrt(drawn[i].variance * runs);
    change.chance = ChanceBeyond(change.difference() / change.error, change.freedom);
  }
  return changes;
}

double LargestSignificantChance(std::span<const Change> changes, double rate) {
  std::vector<double> chances;
  for (const Change& change : changes) chances.push_back(change.chance);
  std::sort(chances.begin(), chances.end());
  for (size_t i = chances.size(); i-- > 0;) {
    const double bound = rate * static_cast<double>(i + 1) / static_cast<double>(chances.size());
    if (chances[i] <= bound) return chances[i];
  }
  return 0;
}

double SmallestDetectable(const Change& change, double significant) {
  return change.error *
         (ErrorsExceeded(change.freedom, significant / 2) + ErrorsExceeded(change.freedom, 0.05));
}

}  // namespace profiler::estimate
