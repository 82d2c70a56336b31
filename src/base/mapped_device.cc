#include "src/base/mapped_device.h"

#include <linux/magic.h>
#include <sys/vfs.h>

namespace profiler {

bool HidesDevice(int fd) {
  struct statfs system;
  return fstatfs(fd, &system) == 0 &&
         (system.f_type == OVERLAYFS_SUPER_MAGIC || system.f_type == BTRFS_SUPER_MAGIC);
}

}  // namespace profiler
