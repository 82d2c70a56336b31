// The table of sub-commands.

#pragma once

#include "src/cli/command.h"

namespace profiler::cli {

// Adds all of them to the app, in the order in which `profiler --help` lists them.
void AddCommands(usage::Command& app, Commands& commands, const Invocation& invocation);

}  // namespace profiler::cli
