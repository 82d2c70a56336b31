// How a command that ran below ours ends ours.

#pragma once

#include <optional>

#include "src/target/command.h"

namespace profiler::cli {

// The command's end becomes ours, as a shell would see it: its exit code, or its signal, which does
// not return. Exit code 0 where there was no command or we ended it.
int EndAsTheCommand(const std::optional<target::Command::End>& command);

}  // namespace profiler::cli
