// Identifies the file that a path leads to, regardless of links on the way.

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

// Returns the identity of the file; nullopt if there is none.
std::optional<FileId> FileIdOf(const std::string& path);
std::optional<FileId> FileIdOf(int fd);

// True if both paths lead to the same file.
bool IsSameFile(const std::string& a, const std::string& b);

}  // namespace profiler
