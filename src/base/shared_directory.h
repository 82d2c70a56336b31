// Names in directories in which everybody makes files, as /tmp is.
//
//   /tmp/perf.data ─▶ /etc/cron.d/x    a link that somebody has laid there for root to follow
//   /tmp/report.txt                    a file of somebody who would own what root puts into it
//
// The kernel refuses both where it is told to (fs.protected_symlinks, fs.protected_regular), but
// not to a program that asks where a link leads and writes there.

#pragma once

#include <cstdint>
#include <string>

#include "src/base/status.h"

namespace profiler {

enum class FileOfOthers : uint8_t { kPutAside, kReplaced };

// Whether `path` may be written to: in a directory with the sticky bit that others may write to,
// neither a link that it leads through, nor a file that would be replaced and keep its owner, may
// be another user's, unless it is that of the directory's owner, root or the effective user (and,
// under sudo, who called it). kFailedPrecondition where not, which says whose it is. Thread-safe.
absl::Status CheckSharedName(const std::string& path, FileOfOthers file);

}  // namespace profiler
