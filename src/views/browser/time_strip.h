// A strip of the recorded time, in which the user chooses a part.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/profile/profile.h"
#include "src/terminal/canvas.h"
#include "src/terminal/event.h"

namespace profiler::browser {

class TimeStrip {
 public:
  // Sums up the samples of `event` by the slices of the profile, which must keep Dimension::kSlice.
  TimeStrip(const profile::Profile& profile, profile::EventId event);

  // Draws two rows: the chosen time as text, and the strip with one bar per column.
  void Draw(terminal::Pane pane);
  // Moves the cursor by arrows, Home and End; Space begins and ends the chosen part, and so do
  // pressing and releasing the mouse's button. `row` is the strip's row on the screen.
  bool Handle(const terminal::Event& event, int row);

  // Returns the chosen first and last slice; nothing if no time was chosen.
  std::optional<std::pair<uint32_t, uint32_t>> chosen() const {
    return end_ ? UntilColumn(*end_) : std::nullopt;
  }
  // Returns the first and last slice that the next Space would choose; nothing if it only begins.
  std::optional<std::pair<uint32_t, uint32_t>> next() const { return UntilColumn(cursor_); }
  // Returns "0.00 s to 1.25 s" of the recording.
  std::string TextOf(std::pair<uint32_t, uint32_t> slices) const;

 private:
  std::optional<std::pair<uint32_t, uint32_t>> UntilColumn(int end) const;
  // Slices of a column.
  std::pair<size_t, size_t> SlicesOf(int column) const;

  const uint64_t length_;        // of a slice, in ns
  std::vector<double> weights_;  // [slice]
  int columns_ = 1;              // when drawn last
  int cursor_ = 0;               // column
  std::optional<int> begin_;     // column where the chosen part begins
  std::optional<int> end_;       // … and ends
};

}  // namespace profiler::browser
