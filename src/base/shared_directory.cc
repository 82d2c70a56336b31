#include "src/base/shared_directory.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "src/base/regular_file.h"

namespace profiler {
namespace {

namespace fs = std::filesystem;

fs::path DirectoryOf(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

bool MayBeATrap(const struct stat& entry, const fs::path& directory) {
  struct stat holder;
  if (stat(directory.c_str(), &holder) != 0) return false;
  const bool is_shared =
      (holder.st_mode & S_ISVTX) != 0 && (holder.st_mode & (S_IWOTH | S_IWGRP)) != 0;
  return is_shared && entry.st_uid != holder.st_uid && !IsUserOrRoot(entry.st_uid);
}

}  // namespace

absl::Status CheckSharedName(const std::string& path, FileOfOthers file) {
  constexpr int kMostLinks = 40;  // as the kernel has it
  std::string at = path;
  for (int i = 0; i < kMostLinks; ++i) {
    struct stat entry;
    if (lstat(at.c_str(), &entry) != 0) return absl::OkStatus();
    const fs::path directory = DirectoryOf(at);
    // What /proc has of open files is the kernel's.
    struct statfs system;
    if (statfs(directory.c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC) break;
    const bool is_link = S_ISLNK(entry.st_mode);
    const bool is_replaced = S_ISREG(entry.st_mode) && file == FileOfOthers::kReplaced;
    if ((is_link || is_replaced) && MayBeATrap(entry, directory)) {
      return absl::FailedPreconditionError(absl::StrCat("cannot write to ", path, ": ", at,
                                                        " is a ", is_link ? "link" : "file",
                                                        " of another user (", entry.st_uid,
                                                        ") in a directory where everybody may "
                                                        "make them; remove it or write elsewhere"));
    }
    if (!is_link) break;
    std::error_code error;
    const fs::path target = fs::read_symlink(at, error);
    if (error) break;
    at = (directory / target).string();
  }
  return absl::OkStatus();
}

}  // namespace profiler
