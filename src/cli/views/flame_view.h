// Writes flame graphs and folded text, for the commands flamegraph and folded and for exports.

#pragma once

#include <cstdint>
#include <string>

#include "src/cli/views/report_options.h"

namespace profiler::cli {

// The arguments of the commands flamegraph and folded. Exports set only `view`.
struct FlameGraphArguments {
  ViewArguments view;  // with the name of the output
  std::string title = "Flame graph";
  bool reverse = false;
  bool inverted = false;
  uint32_t width = 0;
  double min_percent = 0;
  std::string colors = "kind";
  std::string before;          // baseline recording; empty: none
  bool full_names = false;     // of folded text
  bool needs_samples = false;  // true: no output without samples
  bool source = false;         // of pages
};

// Write the recording's samples of one event to view.output: the event that view.event names, or the
// first with samples. Print errors. Return the exit code.
int WriteFoldedText(const FlameGraphArguments& arguments);
int WriteFlamePicture(const FlameGraphArguments& arguments);

}  // namespace profiler::cli
