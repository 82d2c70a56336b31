#include "src/base/mapped_device.h"

#include <linux/magic.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

namespace profiler {

bool HidesDevice(int fd) {
  struct statfs system;
  return fstatfs(fd, &system) == 0 &&
         (system.f_type == OVERLAYFS_SUPER_MAGIC || system.f_type == BTRFS_SUPER_MAGIC);
}

bool IsFileOfMapping(dev_t device, ino_t inode, bool hides_device, uint32_t maj, uint32_t min,
                     uint64_t ino) {
  return inode == ino && (hides_device || device == makedev(maj, min));
}

}  // namespace profiler
