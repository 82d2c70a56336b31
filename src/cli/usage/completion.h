// Completion scripts for shells. They complete commands, options, an option's fixed values, files,
// process ids, and the programs that some commands run.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/cli/usage/usage.h"

namespace profiler::usage {

enum class Shell { kBash, kZsh, kFish };

// Returns the shell of that name, if it is supported.
std::optional<Shell> ShellOf(std::string_view name);

// Returns the script. Each shell looks for it in its own folder:
//   bash  share/bash-completion/completions/PROGRAM
//   zsh   share/zsh/site-functions/_PROGRAM
//   fish  share/fish/vendor_completions.d/PROGRAM.fish
std::string Completion(Shell shell, const Usage& usage);

}  // namespace profiler::usage
