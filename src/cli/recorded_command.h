// The command that a recorder was started for, by the recorder's own command line.

#pragma once

#include <string>
#include <vector>

namespace profiler::cli {

// Of {"perf", "record", "-F", "99", "ls", "-l"}: {"ls", "-l"}. Empty if there is none (`record
// -a`), or if an option in front of it is not known, which may have a value or not.
std::vector<std::string> RecordedCommand(const std::vector<std::string>& cmdline);

}  // namespace profiler::cli
