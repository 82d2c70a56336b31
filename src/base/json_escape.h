// Escapes control characters in JSON text.

#pragma once

#include <string>

namespace profiler {

// Writes as \uXXXX each character that JSON permits in strings but that terminals obey: DEL, the C1
// control characters and characters that change the direction of writing. `json` is one or more
// JSON values, so these characters can only be in strings.
std::string EscapeControls(std::string json);

}  // namespace profiler
