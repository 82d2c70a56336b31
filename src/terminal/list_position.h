// The selected line of a long list, and the part of the list that is visible.

#pragma once

#include <cstddef>

#include "src/terminal/event.h"

namespace profiler::terminal {

class ListPosition {
 public:
  // Takes the number of lines of the list and of the screen. Keeps the selected line, or the last
  // one if the list became shorter, and shows it. Call it before drawing.
  void Fit(size_t lines, size_t visible);

  size_t selected() const { return selected_; }
  size_t first() const { return first_; }  // the first visible line
  size_t lines() const { return lines_; }
  // True if the list has a selected line.
  bool has_selected() const { return selected_ < lines_; }

  void Select(size_t line);
  // Moves by arrows, pages, Home, End, and perf's further keys. Returns false if the event is none
  // of these. The wheel moves the selected line, too.
  bool Handle(const Event& event);
  // Returns the line at a row of the list on the screen; lines() if there is none.
  size_t LineAt(int row) const;

 private:
  void Move(ptrdiff_t by);

  size_t selected_ = 0, first_ = 0, lines_ = 0, visible_ = 1;
};

}  // namespace profiler::terminal
