// A flame graph as one self-contained SVG file.
//
// A browser shows it as an interactive page: clicking a box zooms in; hovering shows its name,
// image, samples and percentages; Ctrl-F (or /) searches by regular expression and shows how much
// matched; arrow keys move between boxes; Escape resets. Inside <img>, or in a viewer without
// scripts, the file is a static picture.
//
// Equal profiles and options yield equal bytes. The width of a box shows its weight
// (FlameGraphOptions::weight). The number in the details of a box is its number of samples, even if
// the weight is the period. A line below the picture reports losses, code without a name, and boxes
// that are too narrow to draw.
//
// With a profile `before`, the boxes are those of the current profile, and their colours show the
// change:
//
//   change of a box = its own share now - its own share before    (without callees)
//   red: more than before; blue: less. The largest change of all boxes has the darkest colour.
//
// This matches FlameGraph's and inferno's differential flame graphs of normalized stacks
// (difffolded.pl -n). The line below the picture says how much of `before` was in stacks that are
// no longer drawn.
//
// Frames below one box become one box if their name, image and kind are equal. An inlined function
// has a kind of its own, so it stays apart from calls of the same function. Code without a symbol
// is merged by image.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "src/profile/profile.h"
#include "src/views/flamegraph/call_tree.h"

namespace profiler::exports {

// The meaning of a box's colour.
enum class FlameColors : uint8_t {
  kKind,   // kind of code: user, inlined, kernel, …
  kSafe,   // like kKind, in colours that colour-blind users can tell apart
  kName,   // the function's name, as one of 16 arbitrary colours
  kImage,  // the image, as one of 16 arbitrary colours
};

struct FlameGraphOptions {
  std::string title = "Flame graph";
  std::string count_name = "samples";     // the word for samples
  std::optional<profile::EventId> event;  // default: the first that has samples
  WeightBy weight = WeightBy::kPeriod;    // default: like a report's percentages
  // True to merge from the leaf: shows the callers of hot functions.
  bool reverse = false;
  bool inverted = false;      // True to draw the root on top ("icicle").
  uint32_t width = 0;         // in pixels, at least 400; 0: 1200, or the browser's window
  double min_percent = 0;     // boxes below this percentage of the whole are not drawn
  double min_pixels = 0.1;    // boxes narrower than this are not drawn
  size_t max_boxes = 30'000;  // only the widest boxes are drawn
  // Limit of the file's size. To keep this limit, more boxes are left out, but at least 100 are
  // drawn.
  size_t max_bytes = 2'000'000;
  FlameColors colors = FlameColors::kKind;
  // Baseline to compare with, or null. Uses the baseline's event of the same name, or else its
  // first event with samples.
  const profile::Profile* before = nullptr;
};

// Returns the SVG. Takes time linear in rows and distinct stacks. The text has at most about 100
// bytes per box, plus the names.
std::string FlameGraphSvg(const profile::Profile& profile, const FlameGraphOptions& options = {});

}  // namespace profiler::exports
