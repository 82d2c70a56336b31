#include "src/base/spool.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"

namespace profiler {
namespace {

absl::Status WriteAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "cannot write to a temporary file");
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<UniqueFd> OpenUnnamedFile() {
  const char* directory = std::getenv("TMPDIR");
  if (directory == nullptr || *directory == '\0') directory = "/tmp";
  UniqueFd file(open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file.valid()) file = UniqueFd(memfd_create("perf.data", MFD_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, absl::StrCat("no temporary file in ", directory));
  return file;
}

absl::StatusOr<size_t> ReadFully(int fd, std::span<std::byte> buffer, const std::string& name) {
  size_t have = 0;
  while (have < buffer.size()) {
    const ssize_t count = read(fd, buffer.data() + have, buffer.size() - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, name);
    if (count == 0) break;
    have += static_cast<size_t>(count);
  }
  return have;
}

absl::StatusOr<MappedFile> Spool(std::span<const std::byte> start, int fd,
                                 const std::string& name) {
  PROFILER_ASSIGN_OR_RETURN(const UniqueFd spool, OpenUnnamedFile());
  PROFILER_RETURN_IF_ERROR(WriteAll(spool.get(), start));
  std::vector<std::byte> buffer(1 << 20);
  for (;;) {
    PROFILER_ASSIGN_OR_RETURN(const size_t have, ReadFully(fd, buffer, name));
    if (have == 0) return MappedFile::FromFd(spool.get(), name);
    PROFILER_RETURN_IF_ERROR(WriteAll(spool.get(), std::span(buffer).first(have)));
  }
}

}  // namespace profiler
