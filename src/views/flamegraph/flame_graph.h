// A flame graph as one self-contained SVG file.
//
// A browser shows it as an interactive page: clicking a box zooms in; hovering shows its name,
// image, samples and percentages; Ctrl-F (or /) searches by regular expression and shows how much
// matched; arrow keys walk; Escape resets. Inside <img>, or in a viewer without scripts, it is a
// picture.
//
// Equal profiles and options yield equal bytes. Widths show the weight; numbers of samples are
// always samples. A line below the picture reports losses, code without a name, and boxes that are
// too narrow to draw.
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
// A box merges callers and callees of the same name, image and kind; inlined functions stay apart
// from calls of the same function. Code without a symbol is merged by image.

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
  kSafe,   // as kKind, in colours that colour-blind users can distinguish
  kName,   // the function's name, as one of 16 arbitrary colours
  kImage,  // the image, as one of 16 arbitrary colours
};

struct FlameGraphOptions {
  std::string title = "Flame graph";
  std::string count_name = "samples";     // the word for samples
  std::optional<profile::EventId> event;  // default: the first that has samples
  WeightBy weight = WeightBy::kPeriod;    // as in a report's percentages
  // True to merge from the leaf: shows the callers of hot functions.
  bool reverse = false;
  bool inverted = false;         // True to draw the root on top ("icicle").
  uint32_t width = 0;            // in pixels, at least 400; 0: 1200, or the browser's window
  double min_percent = 0;        // boxes below this percentage of the whole are not drawn
  double min_pixels = 0.1;       // boxes narrower than this are not drawn
  size_t max_boxes = 30'000;     // only the widest boxes are drawn
  size_t max_bytes = 2'000'000;  // of the file; more boxes are left out to fit, but 100 always stay
  FlameColors colors = FlameColors::kKind;
  // Baseline to compare with, or null. Uses the event of the same name there, else the first with
  // samples.
  const profile::Profile* before = nullptr;
};

// Returns the SVG. Takes time linear in rows and distinct stacks. The text has at most about 100
// bytes per box, plus the names.
std::string FlameGraphSvg(const profile::Profile& profile, const FlameGraphOptions& options = {});

}  // namespace profiler::exports
