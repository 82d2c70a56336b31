#include "src/base/regular_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/base/file_access.h"
#include "src/base/file_systems.h"
#include "src/base/raised_capabilities.h"

namespace profiler {
namespace {

// Opens `rest` with O_PATH, with `root` as its root directory. Sets errno, as open(2) does.
UniqueFd FindBelow(const std::string& root, const std::string& rest) {
  const UniqueFd directory(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) return {};
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  // EAGAIN: a file was renamed meanwhile, so the kernel cannot say whether ".." stays inside
  // `root`.
  constexpr int kMostTries = 16;
  for (int i = 0; i < kMostTries; ++i) {
    UniqueFd fd(
        static_cast<int>(syscall(SYS_openat2, directory.get(), rest.c_str(), &how, sizeof(how))));
    if (fd.valid() || errno != EAGAIN) return fd;
  }
  return {};
}

// Opens `path` with O_PATH. Sets errno, as open(2) does.
UniqueFd Find(const std::string& path, const std::string& root) {
  const bool is_below =
      !root.empty() && path.starts_with(root) && path.substr(root.size()).starts_with('/');
  if (is_below) {
    UniqueFd fd = FindBelow(root, path.substr(root.size()));
    // Without openat2(2), links may lead out of `root`, so do not retry without it while
    // capabilities are raised.
    if (RaisedCapabilities::Any()) return fd;
    const bool is_unknown_call = !fd.valid() && (errno == ENOSYS || errno == EPERM);
    if (!is_unknown_call) return fd;
  }
  return UniqueFd(open(path.c_str(), O_PATH | O_CLOEXEC));
}

enum class May : bool { kBeAnyFile, kBeProgram };

absl::StatusOr<UniqueFd> OpenFound(const UniqueFd& found, const std::string& path, May may) {
  if (!found.valid()) return ErrnoStatus(errno, path);
  struct stat status;
  if (fstat(found.get(), &status) != 0) return ErrnoStatus(errno, path);
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  }
  if (may == May::kBeProgram) PROFILER_RETURN_IF_ERROR(CheckHoldsPrograms(found.get(), path));
  const std::string again = absl::StrCat("/proc/self/fd/", found.get());
  UniqueFd fd(open(again.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (fd.valid()) return fd;
  const int error = errno;
  if (error == ENOENT && access("/proc/self/fd", F_OK) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": cannot be opened while /proc is not mounted"));
  }
  return ErrnoStatus(error, path);
}

// Returns the user who became root by sudo(8), and could do so again.
std::optional<uid_t> SudoUser() {
  uint32_t user = 0;
  const char* const text = geteuid() == 0 ? secure_getenv("SUDO_UID") : nullptr;
  if (text == nullptr || !absl::SimpleAtoi(text, &user)) return std::nullopt;
  return user;
}

}  // namespace

bool IsUserOrRoot(uid_t owner) { return owner == 0 || owner == geteuid() || owner == SudoUser(); }

absl::StatusOr<UniqueFd> FileAccess::OpenRegularFile(const std::string& path,
                                                     const std::string& root) {
  return OpenFound(Find(path, root), path, May::kBeProgram);
}

absl::StatusOr<UniqueFd> FileAccess::OpenOwnFile(const std::string& path) {
  // The kernel shows addresses or zeroes, depending on the opener's capabilities.
  const RaisedCapabilities raised(path == "/proc/kallsyms" ? kCapSyslog : 0);
  return OpenFound(Find(path, {}), path, May::kBeAnyFile);
}

absl::StatusOr<UniqueFd> OpenRegularFile(const std::string& path, const std::string& root) {
  return CurrentFileAccess().OpenRegularFile(path, root);
}

absl::StatusOr<UniqueFd> OpenOwnFile(const std::string& path) {
  return CurrentFileAccess().OpenOwnFile(path);
}

absl::StatusOr<UniqueFd> OpenRegularFileIn(int directory, const std::string& name) {
  // With O_PATH and O_NOFOLLOW, a link itself is opened, and OpenFound refuses it.
  return OpenFound(UniqueFd(openat(directory, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)), name,
                   May::kBeAnyFile);
}

}  // namespace profiler
