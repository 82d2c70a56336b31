// Escapes control characters in JSON text.

#pragma once

#include <string>

namespace profiler {

// Replaces characters that JSON permits in strings but that terminals obey by \uXXXX: DEL, the C1
// control characters and those that change the direction of writing. `json` is one or more JSON
// values; such characters can only be in their strings.
std::string EscapeControls(std::string json);

}  // namespace profiler
