// Large profiles without repetition, the worst case for a page's size.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/views/flamegraph/testing/profile_for_test.h"

namespace profiler::page {

inline constexpr uint32_t kSlices = 200;

struct ManySamples {
  size_t samples = 0;
  size_t stacks = 0;  // number of distinct stacks, each 30 frames deep
  uint32_t functions = 0;
  uint32_t threads = 0;
};

inline constexpr ManySamples kMillionSamples{1'000'000, 40'000, 3'000, 16};
inline constexpr ManySamples kManyFunctions{200'000, 20'000, 20'000, 4};
inline constexpr ManySamples kManyThreads{200'000, 2'000, 300, 5'000};

// Adds rows of one sample each with random stacks, threads and slices; the same in every run.
void AddManySamples(const ManySamples& many, exports::ProfileForTest& test);

}  // namespace profiler::page
