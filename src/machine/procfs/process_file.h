// Reads files of /proc/PID up to a size limit, because a process can make some of them arbitrarily
// long. For example, its command line is its own memory, which may be 64 GB.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::procfs {

// Replaces `*text` by the first `most` bytes of a file. The kernel must have the file's content at
// hand; otherwise a process could make the reader wait. Keeps the capacity of `*text`. Errors:
// those of open(2) and read(2).
absl::Status ReadStart(const std::string& path, size_t most, std::string* text);

// A page: enough for names, numbers and the interesting part of a command line.
inline constexpr size_t kMostOfProcessFile = 4096;

// Replaces `*text` by the first `most` bytes of /proc/ID/NAME; `id` is a process or a thread. The
// kernel reads some files (cmdline, environ) from the memory of that process, which may make a
// reader wait for ever. Those files are read through CurrentFileAccess() (src/base/file_access.h).
absl::Status ReadOfProcess(const Roots& roots, uint32_t id, std::string_view name,
                           std::string* text, size_t most = kMostOfProcessFile);

}  // namespace profiler::procfs
