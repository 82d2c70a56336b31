#include "src/perf_data/write_pieces.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace profiler::perf_data {
namespace {

// pieces handed to one writev(2); the kernel takes up to 1024
constexpr size_t kPiecesPerCall = 256;

std::string_view RemedyOf(int error) {
  switch (error) {
    case ENOSPC:
      return "free some space, or write elsewhere with -o";
    case EDQUOT:
      return "the disk quota is used up; write elsewhere with -o";
    case EFBIG:
      return "the file size limit is reached (ulimit -f)";
    case EPIPE:
      return "whoever read it has closed it";
    default:
      return {};
  }
}

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

}  // namespace

absl::Status WriteError(int error, const std::string& path) {
  return ErrnoStatus(error, absl::StrCat("cannot write ", path), RemedyOf(error));
}

absl::Status WritePieces(int fd, std::span<const std::span<const std::byte>> pieces,
                         const std::string& path, uint64_t* written) {
  while (!pieces.empty()) {
    const size_t count = std::min(pieces.size(), kPiecesPerCall);
    PROFILER_RETURN_IF_ERROR(WriteSome(fd, pieces.first(count), path, written));
    pieces = pieces.subspan(count);
  }
  return absl::OkStatus();
}

}  // namespace profiler::perf_data
