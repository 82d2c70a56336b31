#include "src/format/perf_data/write/write_pieces.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "src/base/atomic_file.h"
#include "src/base/own_directory.h"
#include "src/base/shared_directory.h"
#include "src/base/uninterrupted.h"
#include "src/format/perf_data/write/rename_file.h"

namespace profiler::perf_data {
namespace {

// Pieces per writev(2); the kernel takes up to 1024.
constexpr size_t kPiecesPerCall = 256;

constexpr mode_t kOwnerAlone = 0600;

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

// Sets errno on failure.
bool UnlinkInDirectory(const std::string& path) {
  const auto place = FindPlace(path);
  return place.ok() && unlinkat(place->directory.get(), place->name.c_str(), 0) == 0;
}

absl::StatusOr<UniqueFd> CreateNew(const std::string& path) {
  const auto place = FindPlace(path);
  if (!place.ok()) return Prefixed("cannot create ", place.status());
  UniqueFd fd(Uninterrupted([&] {
    return openat(place->directory.get(), place->name.c_str(),
                  O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kOwnerAlone);
  }));
  if (!fd.valid()) return ErrnoStatus(errno, absl::StrCat("cannot create ", path));
  flock(fd.get(), LOCK_EX | LOCK_NB);
  return fd;
}

// True if another process holds the exclusive lock of a recorder. False if the file system has no
// locks.
bool IsLocked(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  return fd.valid() && flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

absl::StatusOr<UniqueFd> OpenWith(const std::string& path, int flags) {
  UniqueFd fd(Uninterrupted([&] { return open(path.c_str(), O_CLOEXEC | flags, kOwnerAlone); }));
  if (fd.valid()) return fd;
  return ErrnoStatus(errno, absl::StrCat("cannot create ", path));
}

// Takes over an empty file in a directory that this user may not change. A recording shows what
// others do, so the file must belong to this user, and its mode becomes 0600.
absl::StatusOr<UniqueFd> TakeOver(const std::string& path) {
  PROFILER_ASSIGN_OR_RETURN(UniqueFd fd, OpenWith(path, O_RDWR | O_NOFOLLOW));
  struct stat status;
  if (fstat(fd.get(), &status) != 0) return ErrnoStatus(errno, path);
  if (status.st_uid != geteuid()) {
    return absl::PermissionDeniedError(
        absl::StrCat("cannot create ", path, ": it exists, belongs to another user (",
                     status.st_uid, ") and cannot be removed; write elsewhere"));
  }
  if (fchmod(fd.get(), kOwnerAlone) != 0) return ErrnoStatus(errno, path);
  if (Uninterrupted([&] { return ftruncate(fd.get(), 0); }) != 0) return ErrnoStatus(errno, path);
  return fd;
}

// Opens a link of /proc to an open file, which may be writable but not readable.
absl::StatusOr<UniqueFd> OpenOpenFile(const std::string& path) {
  absl::StatusOr<UniqueFd> fd = OpenWith(path, O_RDWR | O_TRUNC);
  return fd.ok() ? std::move(fd) : OpenWith(path, O_WRONLY | O_TRUNC);
}

// Devices and open files are written in place. An empty file is replaced, because it may belong to
// another user or be readable by others. A file that appears meanwhile is also replaced.
absl::StatusOr<UniqueFd> CreateFile(const std::string& path, ReplacedFile* replaced) {
  PROFILER_RETURN_IF_ERROR(CheckSharedName(path, FileOfOthers::kPutAside));
  std::optional<std::string> target = AtomicFile::TargetOf(path);
  struct stat old;
  const bool is_there = stat(path.c_str(), &old) == 0;
  if (!target && is_there && S_ISREG(old.st_mode)) return OpenOpenFile(path);
  if (!target) return OpenInPlace(path, O_WRONLY);
  if (is_there) {
    PROFILER_RETURN_IF_ERROR(CheckNotBeingWritten(path));
    if (old.st_size != 0) {
      PROFILER_ASSIGN_OR_RETURN(replaced->kept_as, KeepOldFile(path));
      target = path;
    } else if (!UnlinkInDirectory(*target) && errno != ENOENT) {
      return TakeOver(*target);
    }
  }
  absl::StatusOr<UniqueFd> fd = CreateNew(*target);
  if (fd.ok() || ErrnoOf(fd.status()) != EEXIST) replaced->created = *target;
  if (!fd.ok()) TakeBack(*replaced);
  return fd;
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

absl::Status CheckNotBeingWritten(const std::string& path) {
  for (const std::string& name : {path, path + ".old"}) {
    struct stat status;
    if (stat(name.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || !IsLocked(name)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("cannot write to ", path, ": another process records into ", name,
                     " now; wait for its end, or name another file with -o"));
  }
  return absl::OkStatus();
}

absl::StatusOr<OpenedOutput> OpenOutput(const std::string& path) {
  OpenedOutput output;
  const bool standard_output = path == "-";
  output.name = standard_output ? "standard output" : path;
  if (!standard_output) {
    PROFILER_ASSIGN_OR_RETURN(output.fd, CreateFile(path, &output.replaced));
  } else {
    output.fd = UniqueFd(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
  }
  if (!output.fd.valid()) return ErrnoStatus(errno, absl::StrCat("cannot create ", output.name));
  output.stream = standard_output || lseek(output.fd.get(), 0, SEEK_CUR) < 0;
  return output;
}

absl::StatusOr<OpenedOutput> OpenInMemory(const std::string& name) {
  OpenedOutput output{.fd = UniqueFd(memfd_create("perf.data", MFD_CLOEXEC)), .name = name};
  if (!output.fd.valid()) return ErrnoStatus(errno, absl::StrCat("no memory for ", name));
  return output;
}

void TakeBack(const ReplacedFile& replaced) {
  const std::string& path = replaced.created;
  if (path.empty()) return;
  const bool is_back = !replaced.kept_as.empty() && RenameInDirectory(replaced.kept_as, path).ok();
  if (!is_back) UnlinkInDirectory(path);
}

}  // namespace profiler::perf_data
