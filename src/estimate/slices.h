// A run in pieces of equally many samples, to see how something is spread over it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace profiler::estimate {

// Into how many slices a run of so many samples is cut: 512, 64, or 0 where they are too few to
// tell anything.
size_t SlicesOf(size_t samples);

// The slice of the sample with this index in the run.
inline size_t SliceOf(size_t sample, size_t samples, size_t slices) {
  return sample * slices / samples;
}

// By slice, how many more samples something has than if it had its share of each: from the samples
// that it has in each slice. The sum is 0, nearly.
std::vector<float> ExcessOf(std::span<const float> counts, size_t samples);

}  // namespace profiler::estimate
