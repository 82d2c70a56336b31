#include "symbolize/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "src/base/unique_fd.h"

namespace profiler::symbolize {

absl::StatusOr<std::vector<std::byte>> ReadTextFile(const std::string& path, size_t limit) {
  constexpr size_t kLeastRoom = 1 << 16;
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  struct stat status;
  if (fstat(fd.get(), &status) != 0) return ErrnoStatus(errno, path);
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  }
  std::vector<std::byte> text(
      std::min(limit, static_cast<size_t>(std::max<off_t>(status.st_size, 0)) + kLeastRoom));
  size_t size = 0;
  while (size < limit) {
    if (text.size() - size < kLeastRoom / 2) text.resize(std::min(limit, text.size() * 2));
    const ssize_t got = read(fd.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, path);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  text.resize(size);
  text.push_back(std::byte{0});
  return text;
}

}  // namespace profiler::symbolize
