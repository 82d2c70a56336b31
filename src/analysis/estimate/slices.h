// Cuts a run into slices with equal numbers of samples, to see how a function is spread over it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace profiler::estimate {

// Returns the number of slices for a run with this number of samples: 512 or 64, or 0 if the
// samples are too few.
size_t SlicesOf(size_t samples);

// Returns the slice of the sample with this index in the run.
inline size_t SliceOf(size_t sample, size_t samples, size_t slices) {
  return sample * slices / samples;
}

// Returns for each slice by how many samples a function exceeds its average share. `counts` are the
// function's samples in each slice. The sum of the result is nearly 0.
std::vector<float> ExcessOf(std::span<const float> counts, size_t samples);

}  // namespace profiler::estimate
