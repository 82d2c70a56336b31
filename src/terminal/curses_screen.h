// Opens the terminal of this process as a Screen, by ncurses.

#pragma once

#include <memory>

#include "src/base/status.h"
#include "src/terminal/screen.h"

namespace profiler::terminal {

struct ScreenOptions {
  bool colours = true;  // shown only if the terminal has colours
};

// True if standard input and output are terminals, and $TERM names a terminal on which OpenScreen
// can draw. Prints nothing.
bool CanOpenScreen();

// Takes the terminal until the object is destroyed. At most one screen may be open, and meanwhile
// nothing else may use standard input, output and error. Errors: kFailedPrecondition says why the
// terminal cannot show a screen, and what to do.
//
// Ctrl-C is an event. Every other end of the process restores the terminal first: exit(), SIGTERM,
// SIGHUP, SIGQUIT, crashes, and a second Ctrl-C if the first one was not read. Ctrl-Z restores the
// terminal until the program continues. Handlers that were installed before are called afterwards.
//
// Shows UTF-8 if the locale's characters are UTF-8 (LC_ALL, LC_CTYPE, LANG), else ASCII only.
absl::StatusOr<std::unique_ptr<Screen>> OpenScreen(const ScreenOptions& options);

}  // namespace profiler::terminal
