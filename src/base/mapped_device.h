// Compares the device and inode of a mapping with those of a file.

#pragma once

#include <sys/types.h>

#include <cstdint>

namespace profiler {

// True if mappings of this file show another device than stat(2) does, as on overlay and btrfs. The
// inode is the same in both. False if fstatfs(2) fails. Thread-safe.
bool HidesDevice(int fd);

// True if a file is the file of a mapping with this device and inode. `device`, `inode` and
// `hides_device` are those of the file, from stat(2) and HidesDevice.
bool IsFileOfMapping(dev_t device, ino_t inode, bool hides_device, uint32_t maj, uint32_t min,
                     uint64_t ino);

}  // namespace profiler
