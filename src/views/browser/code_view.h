// The annotated code of a function on the screen.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "src/terminal/canvas.h"
#include "src/terminal/event.h"
#include "src/terminal/list_position.h"

namespace profiler::browser {

class CodeView {
 public:
  // `listing` is the text of annotate (annotate/listing.h).
  explicit CodeView(std::string_view listing);

  // Draws the lines. The hottest instruction is selected first.
  void Draw(terminal::Pane pane);
  // Moves; H and Tab go to the next hot instruction, Left and Right scroll. Returns false if the
  // event does none of this.
  bool Handle(const terminal::Event& event);

 private:
  std::vector<std::string> lines_;
  std::vector<size_t> hot_;  // lines of instructions with samples, the hottest first
  size_t next_hot_ = 0;
  size_t scrolled_ = 0;  // columns that are left of the screen
  terminal::ListPosition position_;
};

// Scrolls by Left and Right: changes the number of columns that are left of the screen. Returns
// false for other events.
bool ScrollSideways(const terminal::Event& event, size_t* scrolled);

// Returns text without its first columns.
std::string Scrolled(std::string_view text, size_t columns);

// Returns the percentage with which a line of a listing or of a table begins; -1 if there is none.
// Sets `begin` and `end` to its bytes.
double LeadingPercent(std::string_view line, size_t from, size_t* begin, size_t* end);

}  // namespace profiler::browser
