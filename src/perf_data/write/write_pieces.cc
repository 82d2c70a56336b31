#include "src/perf_data/write/write_pieces.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "src/base/atomic_file.h"

namespace profiler::perf_data {
namespace {

// pieces handed to one writev(2); the kernel takes up to 1024
constexpr size_t kPiecesPerCall = 256;

absl::Status WriteSome(int fd, std::span<const std::span<const std::byte>> pieces,
                       const std::string& path, uint64_t* written) {
  std::array<iovec, kPiecesPerCall> vectors;
  size_t count = 0;
  for (std::span<const std::byte> piece : pieces) {
    if (!piece.empty()) vectors[count++] = {const_cast<std::byte*>(piece.data()), piece.size()};
  }
  iovec* next = vectors.data();
  while (count > 0) {
    const ssize_t result = writev(fd, next, static_cast<int>(count));
    if (result < 0 && errno == EINTR) continue;
    if (result < 0) return WriteError(errno, path);
    *written += result;
    size_t done = result;
    while (count > 0 && done >= next->iov_len) {
      done -= next->iov_len;
      ++next;
      --count;
    }
    if (count > 0) {
      next->iov_base = static_cast<std::byte*>(next->iov_base) + done;
      next->iov_len -= done;
    }
  }
  return absl::OkStatus();
}

// Puts an old recording aside. Devices, open files and empty ones are left where they are.
absl::Status KeepOldFile(const std::string& path) {
  struct stat old;
  if (!AtomicFile::CanReplace(path) || stat(path.c_str(), &old) != 0 || old.st_size == 0) {
    return absl::OkStatus();
  }
  const std::string kept = path + ".old";
  if (std::rename(path.c_str(), kept.c_str()) != 0) {
    return ErrnoStatus(errno, absl::StrCat("cannot rename ", path, " to ", kept));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WritePieces(int fd, std::span<const std::span<const std::byte>> pieces,
                         const std::string& path, uint64_t* written) {
  while (!pieces.empty()) {
    const size_t count = std::min(pieces.size(), kPiecesPerCall);
    PROFILER_RETURN_IF_ERROR(WriteSome(fd, pieces.first(count), path, written));
    pieces = pieces.subspan(count);
  }
  return absl::OkStatus();
}

absl::Status WriteAt(int fd, uint64_t offset, std::span<const std::byte> bytes,
                     const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return WriteError(errno, path);
    offset += written;
    bytes = bytes.subspan(written);
  }
  return absl::OkStatus();
}

absl::StatusOr<OpenedOutput> OpenOutput(const std::string& path) {
  OpenedOutput output;
  const bool standard_output = path == "-";
  output.name = standard_output ? "standard output" : path;
  if (!standard_output) PROFILER_RETURN_IF_ERROR(KeepOldFile(path));
  output.fd = UniqueFd(standard_output
                           ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                           : open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!output.fd.valid()) return ErrnoStatus(errno, absl::StrCat("cannot create ", output.name));
  output.stream = standard_output || lseek(output.fd.get(), 0, SEEK_CUR) < 0;
  return output;
}

}  // namespace profiler::perf_data
