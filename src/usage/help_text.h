// How `--help` looks: the same with every version of CLI11, whose own layout is another one since
// 2.5. tools/install reads the commands from it, and tests what docs/ must list.
//
// Private to this package.

#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace profiler::usage {

// All of a command's help; `name` stands behind "Usage:". Thread-safe.
std::string HelpText(const CLI::App& app, const std::string& name);

}  // namespace profiler::usage
