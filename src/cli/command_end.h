// Ends this program in the same way as the command that it ran.

#pragma once

#include <optional>

#include "src/machine/target/command.h"

namespace profiler::cli {

// Returns the command's exit code, or dies of its signal, as a shell would see it. Returns 0 if
// there was no command or we ended it.
int EndAsTheCommand(const std::optional<target::Command::End>& command);

}  // namespace profiler::cli
