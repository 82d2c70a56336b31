// Layout of a flame graph: the boxes' positions as parts of the whole width, and their levels.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/profile/profile.h"
#include "src/views/flamegraph/call_tree.h"
#include "src/views/flamegraph/flame_graph.h"
#include "src/views/flamegraph/labels.h"

namespace profiler::exports {

// The whole width, in the unit of positions and widths.
inline constexpr uint64_t kWhole = 100'000'000;

struct FlameBox {
  LabelId label = kNoLabel;  // kNoLabel: the root
  uint32_t level = 0;        // 0 is the root
  uint64_t start = 0;        // children lie side by side within their parent, in order
  uint64_t width = 0;
  uint64_t self = 0;  // part of `width` that ends here; undrawn callees excluded
  uint64_t samples = 0;
  // With a baseline: the box's `width` and `self` in the baseline.
  uint64_t width_before = 0, self_before = 0;
};

struct FlameLayout {
  std::string event;            // name of the event
  std::vector<FlameBox> boxes;  // parents come before children; the first box is the root
  LabelTable labels;
  uint32_t levels = 1;
  bool pruned = false;       // True if some boxes were too narrow to draw.
  double min_width = 0;      // part of the whole; narrower boxes were left out
  bool some_narrow = false;  // True if some boxes below min_width are drawn.
  Weight total;              // weight of the whole event
  uint64_t unnamed = 0;      // sum of periods of samples whose innermost frame has no symbol
  // With a baseline: the largest change of any box's `self`, and the part of the baseline that
  // ended in stacks without a box. The unit is the same as for positions.
  uint64_t most_change = 0, gone = 0;
};

FlameLayout LayOutFlames(const profile::Profile& profile, const FlameGraphOptions& options,
                         uint32_t pixels);

}  // namespace profiler::exports
