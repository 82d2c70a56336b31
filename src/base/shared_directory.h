// Refuses output files whose names are traps of other users.
//
//   /tmp/perf.data ─▶ /etc/cron.d/x        a link that root is meant to follow
//   /home/bob/x/passwd, x ─▶ /etc          such a link in a directory of another user
//   /tmp/report.txt                        a file whose owner would own what root writes into it
//
// The kernel refuses some of these names if fs.protected_symlinks and fs.protected_regular are set.
// It does not protect a program that reads where a link leads and then writes there.

#pragma once

#include <cstdint>
#include <string>

#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler {

enum class FileOfOthers : uint8_t { kPutAside, kReplaced };

// Checks that `path` may be written to. Every link on the way must belong to a trusted user: root,
// the effective user or, under sudo, its caller. `file` says how the caller treats an existing file
// at `path`. kPutAside: the caller renames the file, so its owner does not matter. kReplaced: the
// caller replaces the file and keeps its owner. In a sticky directory that others may write to, the
// file must then belong to a trusted user or to the directory's owner. Error: kFailedPrecondition,
// which names the owner. Thread-safe.
absl::Status CheckSharedName(const std::string& path, FileOfOthers file);

// Opens `path` for writing in place: a device, a FIFO, an open file of /proc, or a regular file in
// a directory that this user may not change. `flags` are those of open(2). A regular file must
// belong to root or this user; it is emptied unless `flags` contain O_APPEND. Never creates a file.
// Errors: those of open(2), kFailedPrecondition for a file of another user.
absl::StatusOr<UniqueFd> OpenInPlace(const std::string& path, int flags);

}  // namespace profiler
