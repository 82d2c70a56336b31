// Control characters in JSON text.

#pragma once

#include <string>

namespace profiler {

// Replaces the characters that terminals obey and that JSON permits in strings by \uXXXX: DEL, the
// control characters of C1 and those that change the direction of writing. `json` is one or more
// JSON values; these characters stand in its strings only.
std::string EscapeControls(std::string json);

}  // namespace profiler
