// Ends this program in the same way as the command that it ran.

#pragma once

#include <optional>

#include "src/machine/target/child_command.h"

namespace profiler::cli {

// Returns the command's exit code. If a signal ended the command, ends this program with the same
// signal, so that a shell sees no difference. Returns 0 if there was no command, or if this program
// ended it.
int EndAsTheCommand(const std::optional<target::Command::End>& command);

}  // namespace profiler::cli
