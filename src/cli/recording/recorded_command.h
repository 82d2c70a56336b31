// Finds the recorded command in the recorder's command line.

#pragma once

#include <string>
#include <vector>

namespace profiler::cli {

// Returns the command behind the options: {"ls", "-l"} for {"perf", "record", "-F", "99", "ls",
// "-l"}. Returns nothing if there is no command (`record -a`), or if an option before the command
// is unknown, because the next word may be the option's value.
std::vector<std::string> RecordedCommand(const std::vector<std::string>& cmdline);

}  // namespace profiler::cli
