#include "src/base/transfer.h"

#include <unistd.h>

#include <cerrno>

#include "src/base/uninterrupted.h"

namespace profiler {

absl::StatusOr<size_t> ReadFully(int fd, std::span<std::byte> buffer, const std::string& name) {
  size_t have = 0;
  while (have < buffer.size()) {
    const ssize_t count =
        Uninterrupted([&] { return read(fd, buffer.data() + have, buffer.size() - have); });
    if (count < 0) return ErrnoStatus(errno, name);
    if (count == 0) break;
    have += static_cast<size_t>(count);
  }
  return have;
}

int WriteFully(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = Uninterrupted([&] { return write(fd, bytes.data(), bytes.size()); });
    if (count < 0) return errno;
    if (count == 0) return EIO;
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return 0;
}

}  // namespace profiler
