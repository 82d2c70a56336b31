// Manual pages, in the macros of man(7).

#pragma once

#include <string>
#include <string_view>

#include "src/cli/usage/usage.h"

namespace profiler::usage {

// Returns profiler(1), the page of the program.
std::string ManualPage(const Usage& usage);

// Returns profiler-COMMAND(1), the page of one command.
std::string ManualPage(const Usage& usage, const CommandUsage& command);

// Escapes text, so that troff prints it unchanged.
std::string Troff(std::string_view text);

}  // namespace profiler::usage
