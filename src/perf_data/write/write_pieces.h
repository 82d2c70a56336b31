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

// What was done to make room for an output.
struct ReplacedFile {
  std::string created;  // the file that is new; empty where one is written to as it stood
  std::string kept_as;  // what the old file is called now; empty where there was none to keep
};

struct OpenedOutput {
  UniqueFd fd;          // of a regular file open for reading too, where that is permitted
  std::string name;     // for messages
  bool stream = false;  // it cannot be sought in, or is standard output
  ReplacedFile replaced;
};

// Creates `path` for its owner alone (mode 0600). An old file is first renamed to `path.old`, or
// removed if it is empty. "-" is standard output. The new file is locked (flock) as long as it is
// open, which is how others know that it is being written. Errors: those of CheckNotBeingWritten,
// of open(2) and rename(2); kPermissionDenied where a file of another user is in the way.
absl::StatusOr<OpenedOutput> OpenOutput(const std::string& path);

// kFailedPrecondition if another process records into the file at `path` now, or into the one that
// it would be kept as: neither may be renamed or removed.
absl::Status CheckNotBeingWritten(const std::string& path);

// A file without a name, in memory. `name`: for messages. Errors: those of memfd_create(2).
absl::StatusOr<OpenedOutput> OpenInMemory(const std::string& name);

// For an output that could not be begun: the new file goes, and the old one has its name again. So
// trying again on a full disk never puts the half of a file in the place of the old one.
void TakeBack(const ReplacedFile& replaced);

}  // namespace profiler::perf_data
