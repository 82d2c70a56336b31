// Prints the threads of a recording as a tree of parents and children.

#pragma once

#include <optional>
#include <string>

#include "src/importers/format.h"

namespace profiler::cli {

enum class TaskDetails : bool { kNone, kMappings };

// Prints the threads in the layout of `perf report --tasks`, or of `--mmaps` with the final
// mappings of each process (Linux 7.2). Returns the exit code.
//
//   #      pid      tid     ppid  comm
//            1        1        0 | init
//          740      740        1 |  sshd
int WriteTasks(const std::string& input, std::optional<importers::Format> format,
               TaskDetails details);

}  // namespace profiler::cli
