// Makes call paths small enough for a page without losing a sample:
//
//   - All light callees of a node become one node, kLighter, with all their samples.
//   - If there are too many threads, the lightest threads of each name become one.
//   - Time slices become longer.
//
// The page reports how much was merged. Totals do not change.
//
// Functions without side effects; thread-safe.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/views/page/call_paths.h"

namespace profiler::page {

// Name of the node that stands for all light callees of a node.
inline constexpr const char* kLighter = "(lighter callees)";

struct Bounds {
  // Subtrees with a smaller share, summed over all events, become part of a node kLighter.
  double least_share = 0;
  uint32_t slice_divisor = 1;  // number of slices that become one
  size_t most_threads = 10'000;
};

struct Bounded {
  uint64_t folded_samples = 0;  // samples in nodes kLighter
  size_t merged_threads = 0;    // threads that were merged into another one
};

// Applies the bounds. Takes time linear in nodes and rows, except for sorting rows.
Bounded Bound(const Bounds& bounds, CallPaths& paths);

}  // namespace profiler::page
