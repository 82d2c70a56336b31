// Restores the terminal when a signal or exit() ends the process while a screen is open.
//
// Private to this package.

#pragma once

#include <string>

#include "src/base/pipe.h"

namespace profiler::terminal {

// A guard of the terminal. At most one exists at a time. Signals that end or stop the process
// restore the terminal's settings and then have their former effect.
class TerminalGuard {
 public:
  // A notice for the reader of events.
  enum class Notice : char { kNone = 0, kInterrupt = 'c', kResize = 'w', kContinue = 'z' };

  // Remembers the settings of the terminal that is standard input. Call it before the settings
  // change.
  explicit TerminalGuard(Pipe notices);
  TerminalGuard(const TerminalGuard&) = delete;
  // Puts the former handlers of signals back.
  ~TerminalGuard();

  // Takes the present settings as those of the screen, and handles signals from now on. `enter` and
  // `leave` are the control sequences that open and close the screen.
  void Arm(const std::string& enter, const std::string& leave);

  // Says that the screen was closed in the ordinary way.
  void Closed();

  // Becomes readable if there is a notice.
  int descriptor() const { return notices_.read_end.get(); }
  // Takes one notice.
  Notice Take();

 private:
  const Pipe notices_;
};

}  // namespace profiler::terminal
