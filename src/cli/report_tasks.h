// The threads that a recording tells of, as a tree of who started whom.

#pragma once

#include <optional>
#include <string>

#include "src/import/format.h"

namespace profiler::cli {

enum class TaskDetails : bool { kNone, kMappings };

// Prints them in the layout of `perf report --tasks` and `--mmaps` (Linux 7.2), with what each
// process has mapped in the end; the exit code.
//
//   #      pid      tid     ppid  comm
//            1        1        0 | init
//          740      740        1 |  sshd
int WriteTasks(const std::string& input, std::optional<import::Format> format, TaskDetails details);

}  // namespace profiler::cli
