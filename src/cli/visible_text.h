// Text of anybody's making, as a terminal may have it.

#pragma once

#include <string>
#include <string_view>

namespace profiler::cli {

// Names of files, events and commands are any bytes, and some of these make a terminal do
// something: change its title, clear itself, type what was not typed. They are shown as \ooo, in
// octal: the C0 controls but for newline and tab, DEL, the C1 controls (U+0080 to U+009F) and,
// where they are no part of UTF-8, the bytes 0x80 to 0x9f. All else stays as it is.
//
// Gives back `text` itself where there is nothing of this, else what it puts into `*buffer`. Whole
// characters only.
std::string_view VisibleText(std::string_view text, std::string* buffer);

}  // namespace profiler::cli
