#include "src/analysis/estimate/beat.h"

#include <cstddef>
#include <cstdint>

namespace profiler::estimate {
namespace {

// Returns the correlation of slices with the slices `lag` later, from -1 to 1.
double Autocorrelation(std::span<const float> excess, size_t lag, double power) {
  double sum = 0;
  for (size_t i = 0; i + lag < excess.size(); ++i) sum += excess[i] * excess[i + lag];
  const double overlap = 1 - static_cast<double>(lag) / static_cast<double>(excess.size());
  return sum / power / overlap;
}

// Returns the variance of the count because the run may end anywhere in a beat. The sum of the
// excess changes within each beat and returns to its first value at the beat's end.
double VarianceOfEnd(std::span<const float> excess) {
  double sum = 0, total = 0, squares = 0;
  for (const float slice : excess) {
    sum += slice;
    total += sum;
    squares += sum * sum;
  }
  const auto slices = static_cast<double>(excess.size());
  // Twice, because both the beginning and the end of the run lie anywhere in a beat.
  return 2 * (squares / slices - total / slices * (total / slices));
}

// True if slices resemble the slices at some lag, although they do not at a shorter lag.
bool ComesBack(std::span<const float> excess) {
  // Least correlation between beats of two clocks, which are regular.
  constexpr double kRegular = 0.7;
  double power = 0;
  for (const float slice : excess) power += static_cast<double>(slice) * slice;
  if (power == 0) return false;
  // In any slow load, slices resemble the next ones, so the first positive lags are skipped.
  size_t lag = 1;
  while (lag <= excess.size() / 2 && Autocorrelation(excess, lag, power) > 0) ++lag;
  for (; lag <= excess.size() / 2; ++lag) {
    if (Autocorrelation(excess, lag, power) > kRegular) return true;
  }
  return false;
}

}  // namespace

double BeatVariance(const ShareSamples& samples, std::span<const float> excess) {
  constexpr uint64_t kFew = 20;     // least number of samples inside, and outside, the function
  constexpr double kShare = 0.005;  // smaller shares are skipped, because the search takes long
  const auto all = static_cast<double>(samples.samples);
  const bool tells = samples.count >= kFew && samples.samples - samples.count >= kFew &&
                     static_cast<double>(samples.count) >= kShare * all;
  return tells && ComesBack(excess) ? VarianceOfEnd(excess) : 0;
}

}  // namespace profiler::estimate
