// Finds the recorded command in the recorder's command line.

#pragma once

#include <string>
#include <vector>

namespace profiler::cli {

// Returns the command behind the options: {"ls", "-l"} for {"perf", "record", "-F", "99", "ls",
// "-l"}. Empty if there is none (`record -a`), or if an option before it is unknown, because such
// an option may have a value.
std::vector<std::string> RecordedCommand(const std::vector<std::string>& cmdline);

}  // namespace profiler::cli
