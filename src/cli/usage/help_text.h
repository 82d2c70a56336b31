// The text of `--help`, independent of CLI11's own layout, which changed in version 2.5.
// tools/install reads the commands from this text, and tests read it to check that docs/ is
// complete.
//
// Private to this package.

#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace profiler::usage {

// Returns the whole help of a command; "Usage:" is followed by `name`. Thread-safe.
std::string HelpText(const CLI::App& app, const std::string& name);

}  // namespace profiler::usage
