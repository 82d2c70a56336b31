// Descriptions of common terminals, for machines that lack ncurses' files, such as bare chroots.

#pragma once

#include <string_view>

namespace profiler::terminal {

// A description in the format of $TERMINFO, "b64:…" (terminfo(5)), and the name that $TERM must have
// for it.
struct Description {
  std::string_view name, text;
};

// Returns the description of a terminal, or that of the terminal which it emulates; empty if there
// is none.
Description DescriptionOf(std::string_view terminal);

}  // namespace profiler::terminal
