// Reads files of /proc/PID, of which a process can make some as long as it likes: its command line
// is what it has written to its memory, 64 GB if it wants. So each is read up to a bound.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/procfs/proc_file.h"

namespace profiler::procfs {

// Replaces `*text` by the first `most` bytes of a file that the kernel has at hand, which nobody
// can keep a reader waiting for. Keeps the capacity of `*text`. Errors: those of open(2) and
// read(2).
absl::Status ReadStart(const std::string& path, size_t most, std::string* text);

// A page: enough for names, numbers and the part of a command line that anybody looks at.
inline constexpr size_t kMostOfProcessFile = 4096;

// Replaces `*text` by the first `most` bytes of /proc/ID/NAME; `id` is a process or a thread. Files
// that the kernel reads from the memory of that process (cmdline, environ) may keep a reader
// waiting for ever, so they are read through CurrentFileAccess() (src/base/file_access.h).
absl::Status ReadOfProcess(const Roots& roots, uint32_t id, std::string_view name,
                           std::string* text, size_t most = kMostOfProcessFile);

}  // namespace profiler::procfs
