#include "src/base/shared_directory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "src/base/atomic_file.h"
#include "src/base/own_directory.h"
#include "src/base/regular_file.h"
#include "src/base/uninterrupted.h"

namespace profiler {
namespace {

// True if the directory is in /proc, whose links to open files belong to the kernel.
bool IsInProc(const std::string& directory) {
  struct statfs system;
  return statfs(directory.c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

bool IsAmongOthers(const struct stat& file, const std::string& directory) {
  struct stat holder;
  if (IsUserOrRoot(file.st_uid) || stat(directory.c_str(), &holder) != 0) return false;
  const bool is_shared =
      (holder.st_mode & S_ISVTX) != 0 && (holder.st_mode & (S_IWOTH | S_IWGRP)) != 0;
  return is_shared && file.st_uid != holder.st_uid;
}

absl::Status Refused(const std::string& path, const std::string& at, const char* what,
                     uid_t owner) {
  return absl::FailedPreconditionError(absl::StrCat("cannot write to ", path, ": ", at, " is a ",
                                                    what, " of another user (", owner,
                                                    "); remove it or write elsewhere"));
}

}  // namespace

absl::Status CheckSharedName(const std::string& path, FileOfOthers file) {
  constexpr int kMostLinks = 40;  // the kernel's limit
  int links = 0;
  // `at` is the directory so far, with a final slash. `rest` has the names that are still to be
  // followed.
  std::string at, rest = path;
  while (true) {
    if (rest.starts_with('/') && at.empty()) at = "/";
    rest.erase(0, rest.find_first_not_of('/'));
    if (rest.empty()) return absl::OkStatus();
    const size_t end = std::min(rest.find('/'), rest.size());
    const std::string here = at + rest.substr(0, end);
    rest.erase(0, end);
    const std::string directory = at.empty() ? "." : at;
    struct stat entry;
    if (lstat(here.c_str(), &entry) != 0 || IsInProc(directory)) return absl::OkStatus();
    if (S_ISREG(entry.st_mode) && file == FileOfOthers::kReplaced &&
        IsAmongOthers(entry, directory)) {
      return Refused(path, here, "file", entry.st_uid);
    }
    if (!S_ISLNK(entry.st_mode)) {
      at = here + "/";
      continue;
    }
    if (!IsUserOrRoot(entry.st_uid)) return Refused(path, here, "link", entry.st_uid);
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(here, error);
    if (error || ++links > kMostLinks) return absl::OkStatus();
    if (target.starts_with('/')) at = "/";
    rest.insert(0, target);
  }
}

absl::StatusOr<UniqueFd> OpenInPlace(const std::string& path, int flags) {
  const std::optional<std::string> target = AtomicFile::TargetOf(path);
  UniqueFd fd;
  if (target) {
    PROFILER_ASSIGN_OR_RETURN(const PlaceOfFile place, FindPlace(*target));
    fd = UniqueFd(Uninterrupted([&] {
      return openat(place.directory.get(), place.name.c_str(),
                    flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    }));
  } else {
    fd = UniqueFd(Uninterrupted([&] { return open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY); }));
  }
  struct stat status;
  if (!fd.valid() || fstat(fd.get(), &status) != 0) {
    return ErrnoStatus(errno, absl::StrCat("cannot write to ", path));
  }
  if (!S_ISREG(status.st_mode)) {
    if (!target) return fd;
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  }
  if (target && !IsUserOrRoot(status.st_uid)) return Refused(path, *target, "file", status.st_uid);
  if ((flags & O_APPEND) == 0 && Uninterrupted([&] { return ftruncate(fd.get(), 0); }) != 0) {
    return ErrnoStatus(errno, absl::StrCat("cannot write to ", path));
  }
  return fd;
}

}  // namespace profiler
