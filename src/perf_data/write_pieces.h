// Writes records to a file descriptor as they lie in memory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "src/base/status.h"

namespace profiler::perf_data {

// "cannot write PATH: why", with a remedy where there is one.
absl::Status WriteError(int error, const std::string& path);

// All of `pieces`, by one writev(2) for each 256 of them; allocates nothing. Adds what was written
// to `*written`, after an error too.
absl::Status WritePieces(int fd, std::span<const std::span<const std::byte>> pieces,
                         const std::string& path, uint64_t* written);

}  // namespace profiler::perf_data
