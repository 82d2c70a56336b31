// Records which files libdw and libelf open by themselves, for tests.
//
// A path in a debug file may name any file: /dev/zero, a pipe without a writer, a file of another
// user. This project opens such paths itself, with its own checks, and libdw must never open them.
//
// A program that links this library gets its own open(2) and openat(2), which shared libraries use
// too. They record calls of libdw and libelf, and then do what libc's functions do.

#pragma once

#include <string>
#include <vector>

namespace profiler::symbolize {

// Returns the paths that libdw or libelf opened or tried to open since the last call, in order.
std::vector<std::string> TakePathsOpenedByLibdw();

}  // namespace profiler::symbolize
