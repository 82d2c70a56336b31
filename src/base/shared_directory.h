// Output files whose names other users may have laid traps at.
//
//   /tmp/perf.data ─▶ /etc/cron.d/x        a link that somebody made for root to follow
//   /home/bob/x/passwd, x ─▶ /etc          the same in a directory of another user
//   /tmp/report.txt                        a file of somebody who would own what root puts into it
//
// The kernel refuses some of them where it is told to (fs.protected_symlinks,
// fs.protected_regular), but not to a program that asks where a link leads and writes there.

#pragma once

#include <cstdint>
#include <string>

#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler {

enum class FileOfOthers : uint8_t { kPutAside, kReplaced };

// Checks that `path` may be written to. No link on the way may be another user's. A file that would
// be replaced and keep its owner may not be another user's in a directory with the sticky bit that
// others may write to, unless it is the directory's owner's. Trusted are root, the effective user
// and, under sudo, its caller. kFailedPrecondition says whose it is. Thread-safe.
absl::Status CheckSharedName(const std::string& path, FileOfOthers file);

// Opens `path` for writing where it is: a device, a FIFO, an open file of /proc, or a regular file
// in a directory that this user may not change. `flags` are those of open(2). A regular file is
// emptied, unless O_APPEND is among them, and must be root's or this user's. Never creates a file.
// Errors: those of open(2), kFailedPrecondition for a file of another user.
absl::StatusOr<UniqueFd> OpenInPlace(const std::string& path, int flags);

}  // namespace profiler
