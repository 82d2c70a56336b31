// Opens a directory that no other user controls.

#pragma once

#include <string>

#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler {

enum class IfMissing : bool { kFail, kMake };

// Opens the directory for reading its entries and for the *at calls (openat, unlinkat, …). These
// calls use this very directory, even if the path leads elsewhere by then. Only links made by root
// or the effective user are followed. kMake creates missing directories, accessible to this user
// only.
//
// Errors: those of open(2), readlink(2) and mkdir(2); kPermissionDenied if a link or the directory
// itself belongs to another user, or if all users may write to it. Thread-safe.
absl::StatusOr<UniqueFd> OpenOwnDirectory(const std::string& path, IfMissing if_missing);

// A name in an open directory. Calls that take both (openat, renameat) use this very directory,
// even if its path leads elsewhere by then.
struct PlaceOfFile {
  UniqueFd directory;  // opened with O_PATH; may belong to anybody
  std::string name;
};

// Opens the directory of `path`. Refuses links of other users on the way, as OpenOwnDirectory does;
// the last name is not checked. Errors: those of OpenOwnDirectory.
absl::StatusOr<PlaceOfFile> FindPlace(const std::string& path);

}  // namespace profiler
