// Makes untrusted text safe for terminals.

#pragma once

#include <string>
#include <string_view>

namespace profiler::terminal {

// Returns the text with control characters as \ooo, in octal. Names of files, events and commands
// may contain any bytes, and some make a terminal change its title, clear itself, or type text.
// Escapes C0 controls except newline and tab, DEL, C1 controls (U+0080 to U+009F), and bytes 0x80
// to 0x9f that are not part of UTF-8. Everything else is unchanged.
//
// Returns `text` itself if nothing is escaped; otherwise the contents of `*buffer`. `text` must
// consist of whole characters.
std::string_view VisibleText(std::string_view text, std::string* buffer);

// Appends each byte as \ooo.
void AppendOctal(std::string_view bytes, std::string* out);

}  // namespace profiler::terminal
