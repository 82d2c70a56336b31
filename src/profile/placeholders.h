// Chooses the samples of a stream that stand for missing ones.
//
// The samples next to a gap show best what ran in it. Half of the missing samples count for the
// samples before the gap and half for the samples after it. On each side they are divided among all
// samples within half the gap's length, but at least among a minimum number of samples:
//
//   stream    | | | | | | | | | | | | ? ? ? ? ? ? ? ? | | | | | | | | | | | |
//   weight    1 1 1 1 1 1 1 1 2 2 2 2                 2 2 2 2 1 1 1 1 1 1 1 1
//
// So a function's share is right even if losses cluster while it runs, as long as it runs longer
// than a gap lasts. Samples farther away do not count more: they may belong to another phase of the
// program. tools/estimate_experiment compares this with other methods.
//
// The functions are pure and thread-safe.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace profiler::profile {

// A run of consecutive samples that are missing.
struct Gap {
  // Index of the first sample after the gap; the number of samples if there is none.
  size_t before = 0;
  double samples = 0;  // number of missing samples, at least 0
};

struct Placeholder {
  float weight = 1;  // number of samples that this sample stands for, including itself
  float gap = 0;     // mean length of the gaps that this sample stands for; 0: none
};

// Limit for the length of a gap, because counts come from untrusted input.
inline constexpr double kMostInGap = 1e9;

// Returns the weights of a stream of `samples` samples with these gaps, which are in order. The
// weights add up to all samples, taken and missing, unless no sample was taken. Takes time n log n
// in samples and gaps.
std::vector<Placeholder> PlaceholdersFor(size_t samples, std::span<const Gap> gaps);

}  // namespace profiler::profile
