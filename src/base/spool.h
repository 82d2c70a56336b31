// Makes temporary files without a name, which vanish when the last descriptor is closed. They hold
// input from a pipe, and output that is read again at once.

#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "src/base/mapped_file.h"
#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler {

// Opens a file for reading and writing, in $TMPDIR or else /tmp; in memory if that directory does
// not support unnamed files. Errors: those of memfd_create(2). Thread-safe as long as no thread
// changes the environment.
absl::StatusOr<UniqueFd> OpenUnnamedFile();

// Maps an unnamed file with `start`, followed by all bytes that can be read from `fd`. `name` is
// for messages.
absl::StatusOr<MappedFile> Spool(std::span<const std::byte> start, int fd, const std::string& name);

}  // namespace profiler
