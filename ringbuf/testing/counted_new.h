// Counts the calls of operator new in a test binary that links this library.

#pragma once

#include <cstdint>

namespace profiler::ringbuf {

// Returns the number of calls so far, from all threads.
uint64_t NewCalls();

}  // namespace profiler::ringbuf
