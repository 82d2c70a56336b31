// Opens outputs, and writes records to them directly from memory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler::perf_data {

// Writes all of `pieces`, with one writev(2) per 256 pieces; allocates nothing. Adds the number of
// written bytes to `*written`, also after an error.
absl::Status WritePieces(int fd, std::span<const std::span<const std::byte>> pieces,
                         const std::string& path, uint64_t* written);

// Writes all of `bytes` with pwrite(2).
absl::Status WriteAt(int fd, uint64_t offset, std::span<const std::byte> bytes,
                     const std::string& path);

// The changes to a directory that OpenOutput made, so that TakeBack can undo them.
struct ReplacedFile {
  std::string created;  // the new file; empty if an existing file is written in place
  std::string kept_as;  // new name of the old file; empty if none was kept
};

struct OpenedOutput {
  UniqueFd fd;          // a regular file is also open for reading, if permitted
  std::string name;     // for messages
  bool stream = false;  // true if it cannot seek, or is standard output
  ReplacedFile replaced;
};

// Creates `path` with mode 0600. An old file is first renamed to `path.old`, or removed if it is
// empty. "-" is standard output. The new file is locked (flock) while it is open, so that other
// processes can see that it is being written. Errors: those of CheckNotBeingWritten, open(2) and
// rename(2); kPermissionDenied if a file of another user cannot be removed.
absl::StatusOr<OpenedOutput> OpenOutput(const std::string& path);

// Returns kFailedPrecondition if another process is recording into the file at `path` or into
// `path.old`: neither may be renamed or removed.
absl::Status CheckNotBeingWritten(const std::string& path);

// Opens an unnamed file in memory. `name` is for messages. Errors: those of memfd_create(2).
absl::StatusOr<OpenedOutput> OpenInMemory(const std::string& name);

// Undoes OpenOutput if writing could not begin: removes the new file and gives the old one its name
// again. Otherwise a retry on a full disk would rename the unfinished file to `path.old`, over the
// old file.
void TakeBack(const ReplacedFile& replaced);

}  // namespace profiler::perf_data
