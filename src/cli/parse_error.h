// Explains errors in a command line, in one line.

#pragma once

#include <string>
#include <string_view>

#include "src/cli/usage/command_line.h"

namespace profiler::cli {

// Returns the command that the user probably meant by `word`: the command that needs fewest
// insertions, removals, changes and swaps of letters. Returns "" if every command needs many.
std::string NearestCommand(const usage::Command& app, std::string_view word);

// Returns the explanation of an error. `first` is the first argument of the command line, or "" if
// there is none. `reason` is the parser's message.
std::string ExplainParseError(const usage::Command& app, std::string_view first,
                              std::string_view reason);

}  // namespace profiler::cli
