// What is wrong with a command line, in one line.

#pragma once

#include <string>
#include <string_view>

#include "src/usage/command_line.h"

namespace profiler::cli {

// The command that `word` was meant to be: the nearest one by insertions, removals, changes and
// swaps of letters, if these are few; else empty.
std::string NearestCommand(const usage::Command& app, std::string_view word);

// `first`: the first argument, "" when there is none. `reason`: what the parser said.
std::string ExplainParseError(const usage::Command& app, std::string_view first,
                              std::string_view reason);

}  // namespace profiler::cli
