// Opens what a JIT has written of its code: /tmp/perf-PID.map, jit-PID.dump.
//
// /tmp is everybody's, and numbers of processes come again. A map of another user, made in advance
// for a number that some process will have, would give that process's code any names. As perf,
// which ignores maps that are "not owned by current user or root" (tools/perf/util/symbol.c,
// Linux 6.1), this takes those of root and of the effective user, and besides them those of the
// user as whom the process runs, as long as it does.
//
// A file that was last written before the process began is one of an earlier process, and one that
// was written after the process had ended, or had executed another program, of a later one. Where
// it is not known when that was, files of root and of the effective user are taken, whenever they
// were written.

#pragma once

#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// Where a process may have written a map of its code, the likeliest place first, and its root
// directory as OpenRegularFile takes it; no places for the kernel.
struct JitMapPlaces {
  std::vector<std::string> paths;
  std::string root;
};
JitMapPlaces PlacesOfJitMap(const ImageSpec& spec, const SymbolizerOptions& options);

// For the process of `spec`; `path` and `root` are as for OpenRegularFile. Errors: those of
// OpenRegularFile; kPermissionDenied for the file of another user; kFailedPrecondition for one that
// was written before or after the process wrote.
absl::StatusOr<UniqueFd> OpenJitFile(const std::string& path, const std::string& root,
                                     const ImageSpec& spec, const SymbolizerOptions& options);

}  // namespace profiler::symbolize
