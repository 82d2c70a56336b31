// Explains errors in a command line, in one line.

#pragma once

#include <string>
#include <string_view>

#include "src/cli/usage/command_line.h"

namespace profiler::cli {

// Returns the explanation of an error. `first` is the first argument of the command line, or "" if
// there is none. `reason` is the parser's message.
std::string ExplainParseError(const usage::Command& app, std::string_view first,
                              std::string_view reason);

}  // namespace profiler::cli
