// A pipe whose ends are closed by their owners.

#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler {

struct Pipe {
  UniqueFd read_end, write_end;
};

// Makes a pipe whose ends are closed on exec. Errors: those of pipe2(2).
inline absl::StatusOr<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace profiler
