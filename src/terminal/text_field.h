// One line of text that the user types, such as a filter.

#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "src/terminal/canvas.h"
#include "src/terminal/event.h"

namespace profiler::terminal {

class TextField {
 public:
  // `label` precedes the text on the screen.
  explicit TextField(std::string label, std::string text = "")
      : label_(std::move(label)), text_(std::move(text)) {}

  const std::string& text() const { return text_; }

  // Adds a typed character, or removes the last one (Backspace) or all (Ctrl-U). Returns true if
  // the text changed.
  bool Handle(const Event& event);
  // Draws the label, the text and a cursor at its end on a row of the pane. Of a long text, the end
  // is visible.
  void Draw(Pane pane, int row) const;

 private:
  const std::string label_;
  std::string text_;
};

}  // namespace profiler::terminal
