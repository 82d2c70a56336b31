#include "src/base/own_directory.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/regular_file.h"

namespace profiler {
namespace {

constexpr int kMostLinks = 40;  // the kernel's limit

// A walk along a path, name by name, from the root or from the working directory.
class Walk {
 public:
  Walk(std::string path, IfMissing if_missing)
      : path_(std::move(path)), rest_(path_), if_missing_(if_missing) {}

  absl::StatusOr<UniqueFd> OpenAnybodys() && {
    PROFILER_RETURN_IF_ERROR(GoToEnd());
    return std::move(at_);
  }

  absl::StatusOr<UniqueFd> Open() && {
    PROFILER_RETURN_IF_ERROR(GoToEnd());
    UniqueFd directory(openat(at_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat status;
    if (!directory.valid() || fstat(directory.get(), &status) != 0) return Failed();
    if (status.st_uid != geteuid() || (status.st_mode & S_IWOTH) != 0) return Foreign(path_);
    return directory;
  }

 private:
  absl::Status GoToEnd() {
    PROFILER_RETURN_IF_ERROR(Begin());
    while (!rest_.empty()) {
      const size_t end = rest_.find('/');
      const std::string name = rest_.substr(0, end);
      rest_.erase(0, end == std::string::npos ? end : end + 1);
      if (!name.empty()) PROFILER_RETURN_IF_ERROR(Enter(name));
    }
    return absl::OkStatus();
  }

  absl::Status Failed() const { return ErrnoStatus(errno, path_); }
  static absl::Status Foreign(const std::string& what) {
    return absl::PermissionDeniedError(absl::StrCat(what, " belongs to another user"));
  }

  // Opens the directory to which `rest_` is relative: "/" for an absolute path, otherwise the
  // directory that is already open, or else the working directory.
  absl::Status Begin() {
    if (at_.valid() && !rest_.starts_with('/')) return absl::OkStatus();
    at_ = UniqueFd(open(rest_.starts_with('/') ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
    return at_.valid() ? absl::OkStatus() : Failed();
  }

  absl::Status Enter(const std::string& name) {
    UniqueFd next(openat(at_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!next.valid() && errno == ENOENT && if_missing_ == IfMissing::kMake) {
      if (mkdirat(at_.get(), name.c_str(), S_IRWXU) != 0 && errno != EEXIST) return Failed();
      next = UniqueFd(openat(at_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    }
    struct stat status;
    if (!next.valid() || fstat(next.get(), &status) != 0) return Failed();
    if (S_ISLNK(status.st_mode)) return Follow(next, status.st_uid, name);
    at_ = std::move(next);
    return absl::OkStatus();
  }

  absl::Status Follow(const UniqueFd& link, uid_t owner, const std::string& name) {
    if (!IsUserOrRoot(owner)) return Foreign(absl::StrCat(path_, ": the link ", name));
    if (++links_ > kMostLinks) return ErrnoStatus(ELOOP, path_);
    std::array<char, PATH_MAX> target;
    const ssize_t size = readlinkat(link.get(), "", target.data(), target.size());
    if (size < 0) return Failed();
    rest_ = absl::StrCat(absl::string_view(target.data(), static_cast<size_t>(size)), "/", rest_);
    return Begin();
  }

  const std::string path_;
  std::string rest_;  // the part of the path that is left, relative to at_
  const IfMissing if_missing_;
  UniqueFd at_;
  int links_ = 0;
};

}  // namespace

absl::StatusOr<UniqueFd> OpenOwnDirectory(const std::string& path, IfMissing if_missing) {
  return Walk(path, if_missing).Open();
}

absl::StatusOr<PlaceOfFile> FindPlace(const std::string& path) {
  const size_t slash = path.rfind('/');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  PlaceOfFile place{.directory = {}, .name = path.substr(name)};
  absl::StatusOr<UniqueFd> directory = Walk(path.substr(0, name), IfMissing::kFail).OpenAnybodys();
  if (const int error = ErrnoOf(directory.status()); error != 0) return ErrnoStatus(error, path);
  if (!directory.ok()) return directory.status();
  place.directory = *std::move(directory);
  return place;
}

}  // namespace profiler
