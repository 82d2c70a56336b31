// Counts of a recording's samples in Python, by how much of their stacks is known.

#pragma once

#include <cstdint>

namespace profiler::record::python {

// Counts of the samples of Python processes.
struct Counts {
  uint64_t whole = 0;    // every call of the evaluation loop has its frames
  uint64_t partly = 0;   // some callers are unknown
  uint64_t unknown = 0;  // no Python frame is known, although the evaluation loop runs
  uint64_t early = 0;    // samples in the evaluation loop before the kernel began to walk
  uint64_t torn = 0;     // walks that were cut
};

}  // namespace profiler::record::python
