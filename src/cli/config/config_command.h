// profiler config: prints the configuration file.

#pragma once

#include "src/cli/command.h"

namespace profiler::cli {

void AddConfigCommand(usage::Command& app, Commands& commands);

}  // namespace profiler::cli
