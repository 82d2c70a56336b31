#include "src/base/spool.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/transfer.h"

namespace profiler {
namespace {

absl::Status Write(int fd, std::span<const std::byte> bytes) {
  const int error = WriteFully(fd, bytes);
  return error == 0 ? absl::OkStatus() : ErrnoStatus(error, "cannot write to a temporary file");
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

absl::StatusOr<MappedFile> Spool(std::span<const std::byte> start, int fd,
                                 const std::string& name) {
  PROFILER_ASSIGN_OR_RETURN(const UniqueFd spool, OpenUnnamedFile());
  PROFILER_RETURN_IF_ERROR(Write(spool.get(), start));
  std::vector<std::byte> buffer(1 << 20);
  for (;;) {
    PROFILER_ASSIGN_OR_RETURN(const size_t have, ReadFully(fd, buffer, name));
    if (have == 0) return MappedFile::FromFd(spool.get(), name);
    PROFILER_RETURN_IF_ERROR(Write(spool.get(), std::span(buffer).first(have)));
  }
}

}  // namespace profiler
