// A box over the screen: help, a message, or a menu.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/terminal/canvas.h"
#include "src/terminal/event.h"
#include "src/terminal/list_position.h"

namespace profiler::terminal {

// A framed list of lines in the middle of the screen, as wide as its lines. If it does not fit, it
// scrolls.
class Box {
 public:
  // With `is_menu`, one line is selected.
  Box(std::string title, std::vector<std::string> lines, bool is_menu)
      : title_(std::move(title)), lines_(std::move(lines)), is_menu_(is_menu) {}

  void Draw(Pane pane);
  // Moves within the box. Returns false if the event does not move.
  bool Handle(const Event& event);
  // Returns the line that Enter chooses; nothing if there is none.
  std::optional<size_t> selected() const;
  void Select(size_t line);
  // Returns the line of a menu at a cell of the pane that Draw got; nothing outside of the lines.
  std::optional<size_t> LineAt(int row, int column) const;

 private:
  const std::string title_;
  const std::vector<std::string> lines_;
  const bool is_menu_;
  ListPosition position_;
  int row_ = 0, column_ = 0, rows_ = 0, columns_ = 0;  // the inner part, when drawn last
};

}  // namespace profiler::terminal
