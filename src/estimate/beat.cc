#include "src/estimate/beat.h"

#include <cstddef>
#include <cstdint>

namespace profiler::estimate {
namespace {

// How like the slices are to those `lag` later, from -1 to 1.
double Likeness(std::span<const float> excess, size_t lag, double power) {
  double sum = 0;
  for (size_t i = 0; i + lag < excess.size(); ++i) sum += excess[i] * excess[i + lag];
  const double overlap = 1 - static_cast<double>(lag) / static_cast<double>(excess.size());
  return sum / power / overlap;
}

// What the count may be off by if the run ends anywhere in a beat: the sum of the excess wanders
// within each beat and comes back at its end.
double VarianceOfEnd(std::span<const float> excess) {
  double sum = 0, total = 0, squares = 0;
  for (const float slice : excess) {
    sum += slice;
    total += sum;
    squares += sum * sum;
  }
  const auto slices = static_cast<double>(excess.size());
  // Both ends of the run lie somewhere.
  return 2 * (squares / slices - total / slices * (total / slices));
}

// Whether the slices are like those some time later, after they were not.
bool ComesBack(std::span<const float> excess) {
  // Less is a beat that wanders, as no two clocks do.
  constexpr double kRegular = 0.7;
  double power = 0;
  for (const float slice : excess) power += static_cast<double>(slice) * slice;
  if (power == 0) return false;
  // The first lags are like each other in any slow load: what counts is whether it comes back.
  size_t lag = 1;
  while (lag <= excess.size() / 2 && Likeness(excess, lag, power) > 0) ++lag;
  for (; lag <= excess.size() / 2; ++lag) {
    if (Likeness(excess, lag, power) > kRegular) return true;
  }
  return false;
}

}  // namespace

double BeatVariance(const ShareSamples& samples, std::span<const float> excess) {
  constexpr uint64_t kFew = 20;     // of either kind
  constexpr double kShare = 0.005;  // looking for beats in smaller ones would take long
  const auto all = static_cast<double>(samples.samples);
  const bool tells = samples.count >= kFew && samples.samples - samples.count >= kFew &&
                     static_cast<double>(samples.count) >= kShare * all;
  return tells && ComesBack(excess) ? VarianceOfEnd(excess) : 0;
}

}  // namespace profiler::estimate
