// Manual pages, in the macros of man(7).

#pragma once

#include <string>
#include <string_view>

#include "src/usage/usage.h"

namespace profiler::usage {

// profiler(1): the commands.
std::string ManualPage(const Usage& usage);

// profiler-COMMAND(1).
std::string ManualPage(const Usage& usage, const CommandUsage& command);

// Text as troff prints it, whatever is in it.
std::string Troff(std::string_view text);

}  // namespace profiler::usage
