// The text of `--help`: examples, groups of options and commands from the pages of docs/
// (command_pages.h), and each option's own text. tests/docs reads it to check that docs/ is
// complete.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <string>

#include "src/cli/usage/usage.h"

namespace CLI {
class App;
}  // namespace CLI

namespace profiler::usage {

// Return the help of the program or of one command. Lines are at most `columns` wide, except for
// words that are longer. Thread-safe.
std::string HelpText(const Usage& usage, size_t columns);
std::string HelpText(const Usage& usage, const CommandUsage& command, size_t columns);

// Returns the help of the program or command `app`, which CLI11 describes.
std::string HelpOf(CLI::App& app, size_t columns);

}  // namespace profiler::usage
