// Opens what is written to, and writes records to it as they lie in memory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler::perf_data {

// All of `pieces`, by one writev(2) for each 256 of them; allocates nothing. Adds what was written
// to `*written`, after an error too.
absl::Status WritePieces(int fd, std::span<const std::span<const std::byte>> pieces,
                         const std::string& path, uint64_t* written);

// pwrite(2), all of `bytes`.
absl::Status WriteAt(int fd, uint64_t offset, std::span<const std::byte> bytes,
                     const std::string& path);

struct OpenedOutput {
  UniqueFd fd;          // of a regular file open for reading too, where that is permitted
  std::string name;     // for messages
  bool stream = false;  // it cannot be sought in, or is standard output
};

// Creates `path` for its owner alone (mode 0600). An old file is first renamed to `path.old`, or
// removed if it is empty. "-" is standard output. Errors: those of open(2) and rename(2);
// kPermissionDenied where a file of another user is in the way.
absl::StatusOr<OpenedOutput> OpenOutput(const std::string& path);

}  // namespace profiler::perf_data
