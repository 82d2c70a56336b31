// A FUSE file system of somebody who decides when it answers, in the protocol of the kernel
// (include/uapi/linux/fuse.h, 7.31): no library, so that it can stop anywhere.

#pragma once

#include <atomic>
#include <string>

#include "src/base/unique_fd.h"

namespace profiler::tests {

// Mounts a file system at `directory`, which everybody may use and which belongs to the attacker.
// Needs root. Returns the device that it is served by; an invalid descriptor if FUSE is not there.
UniqueFd MountFuse(const std::string& directory);

// Serves a directory with one file, "file", until it is unmounted. From the moment that `*silent`
// is true, no request is answered.
[[noreturn]] void ServeFuse(const UniqueFd& device, const std::string& content,
                            const std::atomic<bool>* silent);

}  // namespace profiler::tests
