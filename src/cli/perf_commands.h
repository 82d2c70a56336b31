// Commands of perf that users type out of habit, and that this program does not have.

#pragma once

#include <string_view>

namespace profiler::cli {

// Returns what serves instead of a command of perf, as a sentence for a message; "" for other words.
std::string_view InsteadOfPerfCommand(std::string_view command);

}  // namespace profiler::cli
