// Reads and writes that go on until all is done: read(2) and write(2) may do less than they are
// asked for, and signals may interrupt them.

#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "src/base/status.h"

namespace profiler {

// The number of bytes that read(2) gives until the buffer is full or the end is there. `name`: for
// messages. Thread-safe, as the next one.
absl::StatusOr<size_t> ReadFully(int fd, std::span<std::byte> buffer, const std::string& name);

// 0, or the errno of the write(2) that failed; how much was written before is not known then.
int WriteFully(int fd, std::span<const std::byte> bytes);

}  // namespace profiler
