// Reads text files that the kernel or another process writes.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/base/status.h"

namespace profiler::symbolize {

// Reads at most `limit` bytes and ignores the rest. Appends a NUL. Reads into memory instead of
// mapping the file, because files in /proc have no size before they are read, and a JIT may rewrite
// its map at any time.
//
// Errors: those of OpenOwnFile (src/base/regular_file.h) and of read(2).
absl::StatusOr<std::vector<std::byte>> ReadTextFile(const std::string& path, size_t limit);

// Reads an open file in the same way; `path` is for messages.
absl::StatusOr<std::vector<std::byte>> ReadTextFile(int fd, const std::string& path, size_t limit);

}  // namespace profiler::symbolize
