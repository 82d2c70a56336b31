#include "symbolize/symbols/text_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "src/base/regular_file.h"
#include "src/base/unique_fd.h"

namespace profiler::symbolize {

absl::StatusOr<std::vector<std::byte>> ReadTextFile(const std::string& path, size_t limit) {
  PROFILER_ASSIGN_OR_RETURN(const UniqueFd fd, OpenOwnFile(path));
  return ReadTextFile(fd.get(), path, limit);
}

absl::StatusOr<std::vector<std::byte>> ReadTextFile(int fd, const std::string& path, size_t limit) {
  // Files in /proc have no size before they are read. The buffer has a large capacity, which costs
  // nothing while it is unused. It grows in small steps, because resize clears the new bytes.
  constexpr size_t kUnknownSize = size_t{16} << 20, kStep = 1 << 16;
  struct stat status;
  if (fstat(fd, &status) != 0) return ErrnoStatus(errno, path);
  std::vector<std::byte> text;
  const size_t stated = static_cast<size_t>(std::max<off_t>(status.st_size, 0));
  text.reserve(std::min(limit, stated == 0 ? kUnknownSize : stated + kStep) + 1);
  size_t size = 0;
  while (size < limit) {
    text.resize(std::min(limit, size + kStep));
    const ssize_t got = read(fd, text.data() + size, text.size() - size);
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
