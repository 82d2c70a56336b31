// Counts the files that libdw and libelf open by themselves.
//
// A path in a debug file may name anything: /dev/zero, a pipe without a writer, a file of another
// user. The project opens such paths itself, with its own checks, and libdw never does.
//
// What links this has its own open(2) and openat(2), which shared libraries call as well. They note
// who called them and do what libc's do.

#pragma once

#include <string>
#include <vector>

namespace profiler::symbolize {

// The paths that libdw or libelf opened or tried to open since the last call, in order.
std::vector<std::string> TakePathsOpenedByLibdw();

}  // namespace profiler::symbolize
