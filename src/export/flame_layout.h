// Where the boxes of a flame graph are, in parts of the whole and levels, before any pixels.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/export/call_tree.h"
#include "src/export/flame_graph.h"
#include "src/export/labels.h"
#include "src/profile/profile.h"

namespace profiler::exports {

// Positions are in these parts of the whole width.
inline constexpr uint64_t kWhole = 100'000'000;

struct FlameBox {
  LabelId label = kNoLabel;  // kNoLabel: everything
  uint32_t level = 0;        // 0 is the root
  uint64_t start = 0;        // of kWhole; children lie within their parent, in order, disjoint
  uint64_t width = 0;
  uint64_t self = 0;  // the part of width that ends here; what is not drawn is not in it
  uint64_t samples = 0;
  // With a profile of before: what width and self were there.
  uint64_t width_before = 0, self_before = 0;
};

struct FlameLayout {
  std::string event;            // its name
  std::vector<FlameBox> boxes;  // a box precedes those above it; the first one is everything
  LabelTable labels;
  uint32_t levels = 1;
  bool pruned = false;       // some boxes were too narrow
  double min_width = 0;      // and how narrow, as a part of the whole
  bool some_narrow = false;  // of those, some are drawn
  Weight total;              // of the event
  uint64_t unnamed = 0;      // period of samples whose innermost frame has no symbol
  // With a profile of before: the largest change of any box's own part, and how much of before
  // ended in stacks that no box is of; of kWhole.
  uint64_t most_change = 0, gone = 0;
};

FlameLayout LayOutFlames(const profile::Profile& profile, const FlameGraphOptions& options,
                         uint32_t pixels);

}  // namespace profiler::exports
