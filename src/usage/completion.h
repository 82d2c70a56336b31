// What the shells complete words with behind the program's name: commands, options, the words among
// an option's values, files, process numbers, and the programs that some commands run.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/usage/usage.h"

namespace profiler::usage {

enum class Shell { kBash, kZsh, kFish };

// By its name; nothing for another one.
std::optional<Shell> ShellOf(std::string_view name);

// To be put where the shell looks for completions:
//   bash  share/bash-completion/completions/PROGRAM
//   zsh   share/zsh/site-functions/_PROGRAM
//   fish  share/fish/vendor_completions.d/PROGRAM.fish
std::string Completion(Shell shell, const Usage& usage);

}  // namespace profiler::usage
