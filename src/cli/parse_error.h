// Explains errors in a command line, in one line.

#pragma once

#include <string>
#include <string_view>

#include "src/cli/usage/command_line.h"

namespace profiler::cli {

// Returns the command that `word` probably meant: the nearest one by insertions, removals, changes
// and swaps of letters, if only few are needed; otherwise "".
std::string NearestCommand(const usage::Command& app, std::string_view word);

// Returns the explanation. `first` is the first argument, or ""; `reason` is the parser's message.
std::string ExplainParseError(const usage::Command& app, std::string_view first,
                              std::string_view reason);

}  // namespace profiler::cli
