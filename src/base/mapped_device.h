// Compares the device of a mapping with that of a file.

#pragma once

namespace profiler {

// True if mappings of this file show another device than stat(2) does, as on overlay and btrfs. The
// inode is the same in both. False if fstatfs(2) fails. Thread-safe.
bool HidesDevice(int fd);

}  // namespace profiler
