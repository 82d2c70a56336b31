// Opens regular files, and nothing else, by names that others have chosen.
//
// A recording, an ELF file or another process may name anything: a watchdog, whose timer starts
// when it is opened, a FIFO, whose writer goes on when somebody opens it, a tape, an order to the
// kernel. So
//
//   open(name, O_PATH)       which opens nothing yet: it only says which file is meant
//   fstat                    refuses what is not a regular file
//   fstatfs                  refuses files of proc, sysfs, tracefs and so on (file_systems.h)
//   open(/proc/self/fd/N)    the very file that was looked at, whatever the name means by now

#pragma once

#include <sys/types.h>

#include <string>

#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler {

// For reading; the descriptor is closed by exec. Every image, every file that an image names, and
// every file that a JIT left is opened by this function.
//
// Where `path` begins with `root`, the rest of it is looked up as a process with that root
// directory would: absolute links and ".." do not lead out of it. That is for the files of a
// process in another mount namespace, which are below /proc/PID/root: a link in a container would
// else lead to a file of ours. (Kernels before 5.6, and filters of system calls that do not know
// openat2(2), have no such look-up. There links lead where they lead us.)
//
// Errors: those of open(2) and fstat(2); kInvalidArgument for what is not a regular file; those of
// CheckHoldsPrograms (file_systems.h); kFailedPrecondition where /proc is not mounted. A process
// that may open nothing, or must not wait, gets the file from another one (file_access.h), and then
// kDeadlineExceeded if that one did not get it in time. Thread-safe.
absl::StatusOr<UniqueFd> OpenRegularFile(const std::string& path, const std::string& root = {});

// A file that this program itself or its user names, on whatever file system it lies: the kernel's
// symbols, a note below /sys, a secret, a part of a recording. Errors as above, except those of
// CheckHoldsPrograms.
absl::StatusOr<UniqueFd> OpenOwnFile(const std::string& path);

// The file of that name in a directory that is open already, which is the program's own. A link is
// not followed: it is no regular file. Errors as for OpenOwnFile.
absl::StatusOr<UniqueFd> OpenRegularFileIn(int directory, const std::string& name);

// Whether what such an owner has put into a file was put there by somebody whom the effective user
// has to trust anyway.
bool IsUserOrRoot(uid_t owner);

}  // namespace profiler
