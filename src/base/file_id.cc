#include "src/base/file_id.h"

#include <sys/stat.h>

#include "src/base/file_access.h"

namespace profiler {

std::optional<FileId> FileAccess::FileIdOf(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

std::optional<FileId> FileIdOf(const std::string& path) {
  return CurrentFileAccess().FileIdOf(path);
}

std::optional<FileId> FileIdOf(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

bool IsSameFile(const std::string& a, const std::string& b) {
  const std::optional<FileId> of_a = FileIdOf(a);
  return of_a.has_value() && of_a == FileIdOf(b);
}

}  // namespace profiler
