#include "src/cli/config/config_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "src/base/regular_file.h"
#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler::config {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;
constexpr char kName[] = "config";

bool IsTrusted(uid_t owner) { return owner == 0 || owner == geteuid(); }

// Returns the directory of all users' programs' configuration; empty if there is none.
std::string BaseDirectory(const Environment& environment) {
  const std::string own = environment("XDG_CONFIG_HOME");
  if (own.starts_with('/')) return own;
  const std::string home = environment("HOME");
  return home.starts_with('/') ? home + "/.config" : "";
}

absl::Status Refused(const std::string& why) {
  return absl::PermissionDeniedError(absl::StrCat(why, "; mend that, or pass --no-config"));
}

absl::StatusOr<std::string> ReadAll(int file, const std::string& path) {
  std::string text;
  while (text.size() <= kMostBytes) {
    char piece[4096];
    const ssize_t size = read(file, piece, sizeof(piece));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return ErrnoStatus(errno, path);
    if (size == 0) return text;
    text.append(piece, static_cast<size_t>(size));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is no configuration file: it has more than 1 MB"));
}

}  // namespace

absl::StatusOr<ConfigFile> ReadConfigFile(const Environment& environment) {
  ConfigFile result;
  const std::string base = BaseDirectory(environment);
  if (base.empty()) return result;
  const std::string folder = base + "/profiler";
  result.path = absl::StrCat(folder, "/", kName);
  // The home directory itself must be this user's: under sudo it may be that of the caller, who
  // could make its links lead anywhere.
  const std::string home = environment("HOME");
  struct stat status;
  for (const std::string& directory : {home, base, folder}) {
    if (!base.starts_with(directory) && directory != folder) continue;
    if (stat(directory.c_str(), &status) != 0) continue;
    if (!IsTrusted(status.st_uid)) {
      result.ignored = absl::StrCat(directory, " belongs to another user");
      return result;
    }
  }
  const absl::StatusOr<UniqueFd> file = OpenOwnFile(result.path);
  const int error = ErrnoOf(file.status());
  if (error == ENOENT || error == ENOTDIR) return result;
  if (error == EACCES) {
    result.ignored = "this user may not read it";
    return result;
  }
  if (!file.ok()) {
    const std::string why(file.status().message());
    return Refused(why.starts_with(result.path) ? why : absl::StrCat(result.path, ": ", why));
  }
  if (fstat(file->get(), &status) != 0) return ErrnoStatus(errno, result.path);
  if (!IsTrusted(status.st_uid)) {
    return Refused(result.path + ": the file belongs to another user");
  }
  const mode_t others = S_IWOTH | (geteuid() == 0 ? S_IWGRP : 0);
  if ((status.st_mode & others) != 0) {
    return Refused(result.path + ": other users may write the file");
  }
  PROFILER_ASSIGN_OR_RETURN(const std::string text, ReadAll(file->get(), result.path));
  absl::StatusOr<std::vector<Setting>> settings = ParseConfig(text);
  if (!settings.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(result.path, ":", settings.status().message()));
  }
  result.settings = *std::move(settings);
  return result;
}

absl::StatusOr<ConfigFile> ReadConfigFile() {
  return ReadConfigFile([](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  });
}

}  // namespace profiler::config
