#include "src/analysis/estimate/mean_share.h"

#include <algorithm>
#include <cmath>

#include "src/analysis/estimate/students_t.h"

namespace profiler::estimate {
namespace {

MeanShare OfOneRun(const RunShare& run) {
  const Interval interval = ShareInterval(run.samples, run.share, run.inequality);
  return {.share = run.share, .half_width = interval.half_width()};
}

double MeanVarianceBySamples(const SharesOfRuns& runs) {
  double sum = 0;
  for (const RunShare& run : runs) sum += VarianceOfShare(run);
  return sum / static_cast<double>(runs.size());
}

}  // namespace

std::vector<MeanShare> MeanSharesOf(std::span<const SharesOfRuns> functions) {
  std::vector<MeanShare> means;
  if (functions.empty()) return means;
  const size_t runs = functions[0].size();
  if (runs == 1) {
    for (const SharesOfRuns& of : functions) means.push_back(OfOneRun(of[0]));
    return means;
  }
  const auto freedom = static_cast<double>(runs - 1);
  std::vector<VarianceSeen> seen;
  for (const SharesOfRuns& of : functions) {
    means.push_back({.share = MeanOf(of)});
    seen.push_back({.between_runs = SquaresAround(means.back().share, of) / freedom,
                    .by_samples = MeanVarianceBySamples(of)});
  }
  const std::vector<RunVariance> drawn = ShrunkVariances(seen, freedom);
  for (size_t i = 0; i < means.size(); ++i) {
    const auto half_width = [runs](double variance, double degrees) {
      return HalfWidth95(std::sqrt(variance / static_cast<double>(runs)), degrees);
    };
    means[i].half_width =
        half_width(std::max(drawn[i].variance, seen[i].by_samples), drawn[i].freedom);
    if (!drawn[i].has_high_variance) continue;
    means[i].half_width = std::max(means[i].half_width, half_width(seen[i].between_runs, freedom));
  }
  return means;
}

}  // namespace profiler::estimate
