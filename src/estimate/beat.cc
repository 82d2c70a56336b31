#include "src/estimate/beat.h"

#include <cstddef>

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

}  // namespace

std::optional<Beat> FindBeat(std::span<const float> excess) {
  // Less is a beat that wanders, as no two clocks do.
  constexpr double kRegular = 0.7;
  double power = 0;
  for (const float slice : excess) power += static_cast<double>(slice) * slice;
  if (power == 0) return std::nullopt;
  // The first lags are like each other in any slow load: what counts is whether it comes back.
  size_t lag = 1;
  while (lag <= excess.size() / 2 && Likeness(excess, lag, power) > 0) ++lag;
  Beat best;
  double regular = kRegular;
  for (; lag <= excess.size() / 2; ++lag) {
    const double likeness = Likeness(excess, lag, power);
    if (likeness <= regular) continue;
    regular = likeness;
    best.length = static_cast<double>(lag);
  }
  if (best.length == 0) return std::nullopt;
  best.variance = VarianceOfEnd(excess);
  return best;
}

}  // namespace profiler::estimate
