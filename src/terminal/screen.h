// A terminal's screen, as programs see it: they show pictures and read events.
//
//   const auto screen = OpenScreen({});           // curses_screen.h
//   while (running) {
//     Canvas canvas(screen->size());
//     view.Draw(canvas.Whole());
//     screen->Show(canvas);
//     view.Handle(screen->Read(100));
//   }
//
// Tests use a FakeScreen (testing/fake_screen.h).

#pragma once

#include "src/terminal/canvas.h"
#include "src/terminal/event.h"

namespace profiler::terminal {

class Screen {
 public:
  static constexpr int kForever = -1;

  virtual ~Screen() = default;

  // Returns the current size.
  virtual Size size() const = 0;
  // Shows a picture of that size. Writes only the cells that differ from the previous picture.
  virtual void Show(const Canvas& canvas) = 0;
  // Waits for an event, at most `milliseconds`.
  virtual Event Read(int milliseconds) = 0;
};

}  // namespace profiler::terminal
