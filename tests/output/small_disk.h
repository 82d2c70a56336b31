// A small file system that fills up quickly, for tests.

#pragma once

#include <string>
#include <utility>

namespace profiler::tests {

// A file system of 256 KiB, mounted at a directory. Only this process and its children see it.
class SmallDisk {
 public:
  explicit SmallDisk(std::string directory) : directory_(std::move(directory)) {}
  SmallDisk(const SmallDisk&) = delete;
  ~SmallDisk();

  // Mounts the file system. Returns false if this user may not mount.
  bool Mount();
  // Writes a file that takes all the remaining space.
  void Fill() const;

 private:
  const std::string directory_;
  bool mounted_ = false;
};

}  // namespace profiler::tests
