// Opens files in which a JIT describes its code: /tmp/perf-PID.map, jit-PID.dump.
//
// Everybody can write to /tmp, and pids are reused. Another user could create a map in advance for
// a pid that some process will have, and so give that process's code any names. perf ignores maps
// that are "not owned by current user or root" (tools/perf/util/symbol.c, Linux 6.1). This code
// accepts files of root, of the effective user, and, while the process lives, of the user as whom
// it runs.
//
// A file last written before the process began belongs to an earlier process; one written after it
// ended or executed another program belongs to a later one. If these times are unknown, files of
// root and of the effective user are accepted whenever they were written.

#pragma once

#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// Paths at which a process may have written its map, the likeliest first. `root` is the root
// directory of the process, for OpenRegularFile.
struct JitMapPlaces {
  std::vector<std::string> paths;
  std::string root;
};
JitMapPlaces PlacesOfJitMap(const ImageSpec& spec, const SymbolizerOptions& options);

// Opens a file of the process of `spec`. `path` and `root` are those of OpenRegularFile. Errors:
// those of OpenRegularFile; kPermissionDenied: another user owns the file; kFailedPrecondition: the
// file was written before or after the lifetime of the process.
absl::StatusOr<UniqueFd> OpenJitFile(const std::string& path, const std::string& root,
                                     const ImageSpec& spec, const SymbolizerOptions& options);

}  // namespace profiler::symbolize
