// Runs the program's commands in this process, as a user types them.

#pragma once

#include <string>
#include <vector>

#include "src/cli/command.h"

namespace profiler::fuzz {

using AddCommand = void (*)(usage::Command& app, cli::Commands& commands);

struct Answer {
  int code = 0;
  std::string out, err;  // standard output, standard error
};

// Runs `profiler ARGUMENTS`. The first argument is the name of the command that `add` adds.
// Requires that the profiler defines the exit code, that an error has a message, and that the
// output contains no control sequences for terminals. The command must not start other processes,
// so pass --no-sandbox.
Answer RunCommand(AddCommand add, std::vector<std::string> arguments);

}  // namespace profiler::fuzz
