#include "src/base/atomic_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/own_directory.h"
#include "src/base/uninterrupted.h"

namespace profiler {
namespace {

namespace fs = std::filesystem;

// A scope in which SIGINT, SIGTERM and SIGHUP are blocked.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, &former_);
  }
  SignalsWait(const SignalsWait&) = delete;
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }

 private:
  sigset_t former_;
};

fs::path DirectoryOf(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

bool IsInProc(const std::string& path) {
  struct statfs system;
  return statfs(DirectoryOf(path).c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

// Returns the path behind all symbolic links of `path`; no file need exist there. Returns nullopt
// if a link is one of /proc's links to open files, which may have no name, or if the links form a
// circle.
std::optional<std::string> Resolve(std::string path) {
  constexpr int kMostLinks = 40;  // the kernel's limit
  for (int i = 0; i < kMostLinks; ++i) {
    struct stat status;
    if (lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return path;
    if (IsInProc(path)) return std::nullopt;
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    if (error) return std::nullopt;
    path = (DirectoryOf(path) / target).string();
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> AtomicFile::TargetOf(const std::string& path) {
  std::optional<std::string> target = Resolve(path);
  struct stat status;
  if (target && stat(target->c_str(), &status) == 0 && !S_ISREG(status.st_mode)) target.reset();
  return target;
}

bool AtomicFile::CanReplace(const std::string& path) { return TargetOf(path).has_value(); }

absl::StatusOr<AtomicFile> AtomicFile::Create(const std::string& path, mode_t mode) {
  static std::atomic<unsigned> number = 0;
  const std::optional<std::string> target = TargetOf(path);
  if (!target) return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  const auto place = FindPlace(*target);
  if (!place.ok()) return Prefixed("cannot create ", place.status());
  while (true) {
    const std::string name = absl::StrCat("profiler-", getpid(), "-", number.fetch_add(1), ".tmp");
    // From here on a signal unlinks the temporary name, even if Create has not made the file yet.
    AtomicFile file(path, *target, DirectoryOf(*target) / name);
    file.fd_ = UniqueFd(Uninterrupted([&] {
      return openat(place->directory.get(), name.c_str(),
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    }));
    if (file.fd_.valid()) return file;
    if (errno != EEXIST) return ErrnoStatus(errno, absl::StrCat("cannot create ", path));
  }
}

AtomicFile::~AtomicFile() {
  if (fd_.valid()) unlink(temporary_.c_str());
}

// Copies as much of owner, group and mode as this user may. If the group cannot be set, the file's
// group gets no more rights than all other users. The set-id bits are not kept, because they were
// given to the old content.
void AtomicFile::TakeOwnerAndMode() const {
  struct stat old;
  if (stat(target_.c_str(), &old) != 0) return;
  mode_t mode = old.st_mode & 0777;
  if (fchown(fd(), old.st_uid, old.st_gid) != 0 && fchown(fd(), -1, old.st_gid) != 0) {
    mode &= ~mode_t{S_IRWXG} | (mode & S_IRWXO) << 3;
  }
  fchmod(fd(), mode);
}

absl::Status AtomicFile::Rename(const std::string& from, const std::string& to) const {
  // Both names lie in one directory.
  PROFILER_ASSIGN_OR_RETURN(const PlaceOfFile old_place, FindPlace(from));
  const std::string name = fs::path(to).filename();
  const int directory = old_place.directory.get();
  if (Uninterrupted([&] {
        return renameat(directory, old_place.name.c_str(), directory, name.c_str());
      }) == 0) {
    return absl::OkStatus();
  }
  return ErrnoStatus(errno, absl::StrCat("cannot rename ", from, " to ", to));
}

absl::Status AtomicFile::Replace(const std::string& keep_old_as) const {
  const SignalsWait wait;
  if (keep_old_as.empty()) return Rename(temporary_, target_);
  const std::string second_name = temporary_ + ".old";
  if (Uninterrupted([&] { return link(target_.c_str(), second_name.c_str()); }) != 0) {
    PROFILER_RETURN_IF_ERROR(Rename(target_, keep_old_as));
    const absl::Status renamed = Rename(temporary_, target_);
    if (!renamed.ok()) (void)Rename(keep_old_as, target_);
    return renamed;
  }
  if (const absl::Status renamed = Rename(temporary_, target_); !renamed.ok()) {
    unlink(second_name.c_str());
    return renamed;
  }
  if (const absl::Status kept = Rename(second_name, keep_old_as); !kept.ok()) {
    (void)Rename(second_name, target_);
    return kept;
  }
  unlink(second_name.c_str());  // rename(2) does nothing if both are names of one file
  return absl::OkStatus();
}

absl::Status AtomicFile::Commit(const CommitOptions& options) {
  TakeOwnerAndMode();
  // Some file systems do not support fsync (EINVAL).
  const bool is_synced = !options.sync || Uninterrupted([&] { return fsync(fd()); }) == 0;
  if (!is_synced && errno != EINVAL) return WriteError(errno, path_);
  struct stat old;
  const bool is_there = stat(target_.c_str(), &old) == 0;
  PROFILER_RETURN_IF_ERROR(Replace(is_there ? options.keep_old_as : ""));
  fd_.Reset();
  return absl::OkStatus();
}

}  // namespace profiler
