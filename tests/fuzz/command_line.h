// The program's commands, run in this process as a user types them.

#pragma once

#include <string>
#include <vector>

#include "src/cli/command.h"

namespace profiler::fuzz {

using AddCommand = void (*)(usage::Command& app, cli::Commands& commands);

struct Answer {
  int code = 0;
  std::string out, err;  // standard output and error
};

// Runs `profiler ARGUMENTS`, whose first word is the name of the command that `add` adds, and
// requires what holds of every run: an exit code that is one of ours, a line that says what went
// wrong where something did, and nothing that a terminal takes for a command. The command has to
// work in this process alone (--no-sandbox).
Answer RunCommand(AddCommand add, std::vector<std::string> arguments);

}  // namespace profiler::fuzz
