// Temporary files that have no name, and are gone when nobody has them open any more: for what
// comes through a pipe, and for what is made to be read at once.

#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "src/base/mapped_file.h"
#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler {

// Open for reading and writing, in $TMPDIR or else /tmp; in memory where that has no such files.
// Errors: those of memfd_create(2). Thread-safe as long as nobody changes the environment.
absl::StatusOr<UniqueFd> OpenUnnamedFile();

// `start`, and behind it what can be read of `fd` to its end, as a mapped file without a name.
absl::StatusOr<MappedFile> Spool(std::span<const std::byte> start, int fd, const std::string& name);

}  // namespace profiler
