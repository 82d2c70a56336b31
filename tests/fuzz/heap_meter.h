// Measures the memory that the process holds through `operator new`, and its peak. Linking this
// file replaces the global operator new. Allocations by C libraries are not measured.

#pragma once

#include <cstddef>

namespace profiler::fuzz {

// Returns the largest number of bytes held at once since ResetPeakHeap(). Thread-safe.
size_t PeakHeap();

// Sets the peak to the number of bytes held now, and returns that number.
size_t ResetPeakHeap();

}  // namespace profiler::fuzz
