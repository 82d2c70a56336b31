// The sub-command `top`. It is a library of its own, above the other sub-commands, because it needs
// the terminal's screen.

#pragma once

#include "src/cli/command.h"

namespace profiler::cli {

void AddTopCommand(usage::Command& app, Commands& commands, Invocation invocation);

}  // namespace profiler::cli
