// How much memory the process holds by `operator new`, and the most that it has held. A program
// that links this has its global operator new replaced. Not what C libraries allocate.

#pragma once

#include <cstddef>

namespace profiler::fuzz {

// Bytes, since the peak was last reset. Thread-safe.
size_t PeakHeap();

// Makes what is held now the peak, and returns it.
size_t ResetPeakHeap();

}  // namespace profiler::fuzz
