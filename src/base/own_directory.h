// Opens a directory that nobody but its user has a say in.

#pragma once

#include <string>

#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler {

enum class IfMissing : bool { kFail, kMake };

// Open for reading its entries, and for the calls that take a directory (openat, unlinkat, …):
// these mean this very directory, whatever the path means by then. On the way there links are
// followed that root or the effective user made, and no others. kMake makes the directories that
// are not there, for the user alone.
//
// Errors: those of open(2), readlink(2) and mkdir(2); kPermissionDenied where a link is another
// user's, or the directory itself is, or where all others may write to it. Thread-safe.
absl::StatusOr<UniqueFd> OpenOwnDirectory(const std::string& path, IfMissing if_missing);

// A name in a directory. Calls that take both (openat, renameat) mean this very directory, whatever
// the path to it means by then.
struct PlaceOfFile {
  UniqueFd directory;  // opened with O_PATH; may be anybody's
  std::string name;
};

// Finds the place of `path`. On the way to its directory, links of other users are refused, as
// above; the last name is not looked at. Errors: as above.
absl::StatusOr<PlaceOfFile> FindPlace(const std::string& path);

}  // namespace profiler
