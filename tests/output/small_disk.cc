#include "tests/output/small_disk.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <vector>

namespace profiler::tests {

SmallDisk::~SmallDisk() {
  if (mounted_) umount2(directory_.c_str(), MNT_DETACH);
}

bool SmallDisk::Mount() {
  // Mounts in a private namespace, so that other processes do not see the file system.
  mounted_ = unshare(CLONE_NEWNS) == 0 &&
             mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
             mount("none", directory_.c_str(), "tmpfs", 0, "size=256k") == 0;
  return mounted_;
}

void SmallDisk::Fill() const {
  const int fd = open((directory_ + "/filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const std::vector<char> page(4096);
  while (write(fd, page.data(), page.size()) > 0) {
  }
  close(fd);
}

}  // namespace profiler::tests
