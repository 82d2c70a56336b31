// A flame graph as one SVG file that needs nothing else.
//
// Opened in a browser it is a page: a click zooms, hovering tells name, image, samples and
// percentages, Ctrl-F (or /) searches by regular expression and tells how much matched, arrow keys
// walk, Escape goes back. Inside <img>, or in a viewer without scripts, it is a picture.
//
// The same profile and options give the same bytes. Widths are by weight; every number of samples
// is a number of samples. What the recording lost, what has no name and what was too narrow to be
// drawn is written below the picture.
//
// With a profile of before, the boxes are those of the profile, and their colours tell what
// changed:
//
//   change of a box = its own part of the whole now - its own part before    (callees not counted)
//   red             more than before, blue less; the darker, the larger is the change among all
//   boxes
//
// as in FlameGraph's and inferno's differential flame graphs of normalized stacks (difffolded.pl
// -n). How much of before is in stacks that are no longer there is said below the picture.
//
// A box stands for callers and callees of the same name, image and kind (inlined functions apart
// from calls of the same function). Code without a symbol is merged by image.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "src/export/call_tree.h"
#include "src/profile/profile.h"

namespace profiler::exports {

// What the colour of a box tells.
enum class FlameColors : uint8_t {
  kKind,   // whether it is user, inlined, kernel … code
  kSafe,   // the same, in colours that those tell apart who see red and green alike
  kName,   // nothing, but functions of one name have one colour
  kImage,  // its image
};

struct FlameGraphOptions {
  std::string title = "Flame graph";
  std::string count_name = "samples";     // what samples are called
  std::optional<profile::EventId> event;  // default: the first that has samples
  WeightBy weight = WeightBy::kPeriod;    // as the percentages of a report
  bool reverse = false;                   // merged from the leaf: who called what is hot
  bool inverted = false;                  // the root on top ("icicle")
  uint32_t width = 0;       // pixels, at least 400; 0: 1200, and as wide as the window in a browser
  double min_percent = 0;   // boxes narrower than that part of the whole are not drawn
  double min_pixels = 0.1;  // nor are boxes narrower than that
  size_t max_boxes = 30'000;     // the narrowest ones beyond that are not drawn either
  size_t max_bytes = 2'000'000;  // nor those that would make the file larger; but some are drawn
  FlameColors colors = FlameColors::kKind;
  // The same event there, or the first that has samples. Colours tell the difference.
  const profile::Profile* before = nullptr;
};

// Linear in rows and distinct stacks; the text is at most about 100 bytes a box and the names.
std::string FlameGraphSvg(const profile::Profile& profile, const FlameGraphOptions& options = {});

}  // namespace profiler::exports
