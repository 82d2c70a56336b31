// Descriptions of common terminals, for machines that lack ncurses' files, such as bare chroots.

#pragma once

#include <string_view>

namespace profiler::terminal {

// Returns the description of a terminal in the format of $TERMINFO, "b64:…" (terminfo(5)); empty
// if there is none.
std::string_view DescriptionOf(std::string_view terminal);

}  // namespace profiler::terminal
