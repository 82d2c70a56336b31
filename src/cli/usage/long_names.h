// Completes beginnings of long options, as perf does: `--no-ch` stands for `--no-children` if no
// other option of the command begins like this.
//
// Private to this package: command_line.cc and usage.cc include it.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace CLI {
class App;
}  // namespace CLI

namespace profiler::usage {

// Returns an option's name without the value in braces that CLI11 keeps behind it: "name{value}".
std::string WithoutBraces(std::string_view name);

// Returns the words after the program's name, with whole names of options. Keeps values of options,
// the command line of a program to run, and words that no option begins with. Returns
// kInvalidArgument, with the candidates, for a beginning of several options.
absl::StatusOr<std::vector<std::string>> WithWholeNames(CLI::App& program,
                                                        std::vector<std::string> words);

}  // namespace profiler::usage
