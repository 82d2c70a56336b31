// Makes call paths small enough for a page, without losing a sample.
//
// What is too light is not left out: all callees of a node that are too light become one node,
// kLighter, with all their samples; of too many threads those of one name become one; slices of
// time become longer. It is counted, for the page to say so. Totals stay what they are.
//
// Pure functions; thread-safe.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/page/call_paths.h"

namespace profiler::page {

// What callees of one node are called that are too light to have nodes of their own.
inline constexpr const char* kLighter = "(lighter callees)";

struct Bounds {
  double least_share = 0;      // of an event: subtrees with less of all events become kLighter
  uint32_t slice_divisor = 1;  // so many slices become one
  size_t most_threads = 10'000;
};

struct Bounded {
  uint64_t folded_samples = 0;  // that are in kLighter
  size_t merged_threads = 0;    // that are not alone any more
};

// Linear in nodes and rows, but for sorting rows.
Bounded Bound(const Bounds& bounds, CallPaths& paths);

}  // namespace profiler::page
