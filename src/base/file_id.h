// Which file a path leads to, whatever links are on the way.

#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace profiler {

struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileId&) const = default;
};

// Empty where the path leads nowhere.
std::optional<FileId> FileIdOf(const std::string& path);
std::optional<FileId> FileIdOf(int fd);

// Whether both lead to one file.
bool IsSameFile(const std::string& a, const std::string& b);

}  // namespace profiler
