// The table of sub-commands.

#pragma once

#include "src/cli/command.h"

namespace profiler::cli {

// Adds all sub-commands to the app, in the order of `profiler --help`.
void AddCommands(usage::Command& app, Commands& commands, const Invocation& invocation);

}  // namespace profiler::cli
