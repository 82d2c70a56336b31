// Measures the memory that the process holds through `operator new`, and its peak. Linking this
// replaces the global operator new. Allocations by C libraries are not measured.

#pragma once

#include <cstddef>

namespace profiler::fuzz {

// Returns the peak in bytes since ResetPeakHeap(). Thread-safe.
size_t PeakHeap();

// Sets the peak to the memory that is held now, and returns it.
size_t ResetPeakHeap();

}  // namespace profiler::fuzz
