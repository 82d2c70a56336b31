// Reads and writes completely, although read(2) and write(2) may transfer fewer bytes and signals
// may interrupt them.

#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "src/base/status.h"

namespace profiler {

// Reads until the buffer is full or the file ends, and returns the number of bytes. `name` is for
// messages. Thread-safe.
absl::StatusOr<size_t> ReadFully(int fd, std::span<std::byte> buffer, const std::string& name);

// Writes all bytes. Returns 0, or the errno of the failed write(2); the number of bytes written
// before is then unknown. Thread-safe.
int WriteFully(int fd, std::span<const std::byte> bytes);

}  // namespace profiler
