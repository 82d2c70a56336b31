// A file system that fills up at once, for tests.

#pragma once

#include <string>
#include <utility>

namespace profiler::tests {

// A file system of a quarter of a megabyte at a directory, that only this process and its children
// see.
class SmallDisk {
 public:
  explicit SmallDisk(std::string directory) : directory_(std::move(directory)) {}
  SmallDisk(const SmallDisk&) = delete;
  ~SmallDisk();

  // False where this user may not mount anything.
  bool Mount();
  // Puts a file there that takes all the room left.
  void Fill() const;

 private:
  const std::string directory_;
  bool mounted_ = false;
};

}  // namespace profiler::tests
