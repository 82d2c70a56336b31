// A FUSE file system whose server decides when it answers. It speaks the kernel's protocol itself
// (include/uapi/linux/fuse.h, 7.31) and uses no library, so it can stop at any point.

#pragma once

#include <atomic>
#include <string>

#include "src/base/unique_fd.h"

namespace profiler::tests {

// Mounts a file system at `directory`. The attacker owns it, and everybody may use it. Needs root.
// Returns the device to serve; an invalid descriptor if the machine has no FUSE.
UniqueFd MountFuse(const std::string& directory);

// Serves a directory with one file, named "file", until the file system is unmounted. Answers no
// request while `*silent` is true.
[[noreturn]] void ServeFuse(const UniqueFd& device, const std::string& content,
                            const std::atomic<bool>* silent);

}  // namespace profiler::tests
