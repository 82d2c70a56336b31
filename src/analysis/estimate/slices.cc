#include "src/analysis/estimate/slices.h"

#include <numeric>

namespace profiler::estimate {

size_t SlicesOf(size_t samples) {
  constexpr size_t kMost = 512, kFewest = 64;
  if (samples >= 2 * kMost) return kMost;
  return samples >= 2 * kFewest ? kFewest : 0;
}

std::vector<float> ExcessOf(std::span<const float> counts, size_t samples) {
  std::vector<float> excess(counts.begin(), counts.end());
  const float share =
      std::accumulate(counts.begin(), counts.end(), 0.0f) / static_cast<float>(samples);
  // Returns the first sample whose slice, by SliceOf, is `slice`.
  const auto first = [&](size_t slice) {
    return (slice * samples + counts.size() - 1) / counts.size();
  };
  for (size_t i = 0; i < excess.size(); ++i) {
    excess[i] -= share * static_cast<float>(first(i + 1) - first(i));
  }
  return excess;
}

}  // namespace profiler::estimate
