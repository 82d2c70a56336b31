// Renames recordings. The calls do not follow a link of another user to the directory.

#pragma once

#include <string>

#include "src/base/status.h"

namespace profiler::perf_data {

// Renames `from` to `to`, a path in the same directory. An existing file `to` is replaced. Errors:
// those of FindPlace and renameat(2); the message names both paths.
absl::Status RenameInDirectory(const std::string& from, const std::string& to);

// Renames an old recording to `path.old`, and returns that name. A former `path.old` is replaced.
// Errors: those of RenameInDirectory; the file then keeps its name.
absl::StatusOr<std::string> KeepOldFile(const std::string& path);

}  // namespace profiler::perf_data
