// Completes beginnings of long options, as perf does: `--no-ch` stands for `--no-children` if no
// other option of the command begins like this.
//
// Private to this package: only command_line.cc includes it.

#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace CLI {
class App;
}  // namespace CLI

namespace profiler::usage {

// Returns the words after the program's name, with whole names of options. Keeps values of options,
// the command line of a program to run, and words that no option begins with. Returns
// kInvalidArgument, with the candidates, for a beginning of several options.
absl::StatusOr<std::vector<std::string>> WithWholeNames(CLI::App& program,
                                                        std::vector<std::string> words);

}  // namespace profiler::usage
