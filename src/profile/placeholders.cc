#include "src/profile/placeholders.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace profiler::profile {
namespace {

// Smallest number of samples on each side of a gap that stand for it. With fewer, the choice would
// depend on noise.
constexpr size_t kFewest = 16;

class Stream {
 public:
  Stream(size_t samples, std::span<const Gap> gaps)
      : places_(samples), weights_(samples + 1), weighted_gaps_(samples + 1) {
    double missing = 0;
    size_t gap = 0;
    for (size_t i = 0; i < samples; ++i) {
      for (; gap < gaps.size() && gaps[gap].before <= i; ++gap) missing += SizeOf(gaps[gap]);
      places_[i] = static_cast<double>(i) + missing;
    }
  }

  static double SizeOf(const Gap& gap) { return std::clamp(gap.samples, 0.0, kMostInGap); }

  // Adds a gap. `missing` is the number of samples in all gaps before it.
  void Add(const Gap& gap, double missing) {
    const double size = SizeOf(gap);
    if (size == 0) return;
    const size_t before = std::min(gap.before, places_.size());
    const double begin = static_cast<double>(before) + missing;
    const size_t first = std::min(At(begin - size / 2), before - std::min(before, kFewest));
    const size_t end =
        std::max(At(begin + size + size / 2), before + std::min(places_.size() - before, kFewest));
    const bool has_both = first < before && before < end;
    const double half = has_both ? size / 2 : size;
    Spread(half, size, first, before);
    Spread(half, size, before, end);
  }

  std::vector<Placeholder> Placeholders() const {
    std::vector<Placeholder> result(places_.size());
    double weight = 0, weighted_gaps = 0;
    for (size_t i = 0; i < result.size(); ++i) {
      weight += weights_[i];
      weighted_gaps += weighted_gaps_[i];
      // Rounding leaves tiny weights even if no sample is missing nearby.
      if (weight < kRounding) continue;
      result[i].weight = static_cast<float>(1 + weight);
      result[i].gap = static_cast<float>(std::clamp(weighted_gaps / weight, 0.0, kMostInGap));
    }
    return result;
  }

 private:
  static constexpr double kRounding = 1e-6;

  // Returns the index of the first sample that lies at `place` or behind it.
  size_t At(double place) const {
    return static_cast<size_t>(std::lower_bound(places_.begin(), places_.end(), place) -
                               places_.begin());
  }

  void Spread(double missing, double gap, size_t first, size_t end) {
    if (first == end) return;
    const double each = missing / static_cast<double>(end - first);
    weights_[first] += each;
    weights_[end] -= each;
    weighted_gaps_[first] += each * gap;
    weighted_gaps_[end] -= each * gap;
  }

  std::vector<double> places_;  // [n]: index of sample n if no sample were missing
  // weights_[n]: additional weight of sample n minus that of sample n − 1. In weighted_gaps_, each
  // weight is multiplied by the length of its gap.
  std::vector<double> weights_, weighted_gaps_;
};

}  // namespace

std::vector<Placeholder> PlaceholdersFor(size_t samples, std::span<const Gap> gaps) {
  Stream stream(samples, gaps);
  double missing = 0;
  for (const Gap& gap : gaps) {
    stream.Add(gap, missing);
    missing += Stream::SizeOf(gap);
  }
  return stream.Placeholders();
}

}  // namespace profiler::profile
