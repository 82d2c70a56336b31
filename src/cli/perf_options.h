// Options of perf that users and scripts type out of habit, and that have no effect here. Options
// that are refused: usage::Command::AddRefused.

#pragma once

#include <string>

#include "src/cli/usage/command_line.h"

namespace profiler::cli {

// An option of perf that has no effect in this program.
struct IgnoredOption {
  usage::Option option;
  std::string why;
};

// Adds an option that has no effect; `why` is the reason, for `--help`. `value` names its value;
// null: a flag, which accepts a value behind `=`.
IgnoredOption AddIgnoredOption(usage::Command& command, const std::string& names, const char* value,
                               const std::string& why);

}  // namespace profiler::cli
