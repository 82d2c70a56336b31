// Text that the kernel or another process writes, read whole.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/base/status.h"

namespace profiler::symbolize {

// Files in /proc have no size before they are read, and a JIT may rewrite its map at any time, so
// these are read into memory and not mapped. At most `limit` bytes; the rest is left out. The last
// byte is always NUL, on top of the text.
//
// Errors: those of OpenOwnFile (src/base/regular_file.h) and of read(2).
absl::StatusOr<std::vector<std::byte>> ReadTextFile(const std::string& path, size_t limit);

// The same of an open file; `path` is for messages.
absl::StatusOr<std::vector<std::byte>> ReadTextFile(int fd, const std::string& path, size_t limit);

}  // namespace profiler::symbolize
