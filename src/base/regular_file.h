// Opens only regular files by names that others have chosen.
//
// A recording, an ELF file or another process may name any file. Opening some files has effects: it
// starts the timer of a watchdog, lets the writer of a FIFO continue, rewinds a tape or gives the
// kernel an order. Hence these steps:
//
//   open(name, O_PATH)       finds the file without opening it
//   fstat                    refuses everything except regular files
//   fstatfs                  refuses files of proc, sysfs, tracefs and so on (file_systems.h)
//   open(/proc/self/fd/N)    opens the file that was checked, even if the name now leads elsewhere

#pragma once

#include <sys/types.h>

#include <string>

#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler {

// Opens a file for reading; exec closes the descriptor. All images, all files that an image names
// and all files left by a JIT are opened by this function.
//
// If `path` begins with `root`, the rest is looked up as in a process with that root directory:
// absolute links and ".." do not lead out of it. Use it for files of a process in another mount
// namespace, below /proc/PID/root. Without `root`, a link in a container would lead to a file
// outside the container. (If the kernel is older than 5.6, or a system call filter does not know
// openat2(2), `root` has no effect on links: they are followed in our own namespace.)
//
// Errors: those of open(2) and fstat(2); kInvalidArgument if it is not a regular file; those of
// CheckHoldsPrograms (file_systems.h); kFailedPrecondition if /proc is not mounted. A process that
// may not open files, or must not wait, gets the file from another process (file_access.h);
// kDeadlineExceeded if that takes too long. Thread-safe.
absl::StatusOr<UniqueFd> OpenRegularFile(const std::string& path, const std::string& root = {});

// Opens a file that this program or its user named, on any file system: the kernel's symbols, a
// note below /sys, a secret, a part of a recording. Errors: those of OpenRegularFile, except those
// of CheckHoldsPrograms.
absl::StatusOr<UniqueFd> OpenOwnFile(const std::string& path);

// Opens a file in an open directory, which must be the program's own. Does not follow a link,
// because a link is not a regular file. Errors: those of OpenOwnFile.
absl::StatusOr<UniqueFd> OpenRegularFileIn(int directory, const std::string& name);

// True if the owner of a file is a user whom the effective user must trust anyway: root, this user,
// or the user who called sudo.
bool IsUserOrRoot(uid_t owner);

}  // namespace profiler
