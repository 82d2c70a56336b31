// Keeps recordings in memory, as files and pipes that have a path or a descriptor.

#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "src/base/unique_fd.h"
#include "tests/fuzz/fuzz_target.h"

namespace profiler::fuzz {

// Returns a path under which this process can open the file of `fd`.
inline std::string PathOf(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// A file without a name in any directory, empty at first.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {}

  std::string path() const { return PathOf(fd_.get()); }

  void Fill(std::span<const std::byte> bytes) {
    Require(ftruncate(fd_.get(), static_cast<off_t>(bytes.size())) == 0, "the file has its size");
    Require(pwrite(fd_.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
            "the file has its bytes");
  }

  Bytes Contents() const {
    Bytes bytes(static_cast<size_t>(lseek(fd_.get(), 0, SEEK_END)));
    Require(pread(fd_.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
            "the file has its bytes");
    return bytes;
  }

 private:
  UniqueFd fd_;
};

// Returns the reading end of a pipe that contains `bytes`, which are at most 64 KiB: a full pipe
// would block the writer.
inline UniqueFd FilledPipe(std::span<const std::byte> bytes) {
  int ends[2];
  Require(pipe2(ends, O_CLOEXEC) == 0, "there is a pipe");
  UniqueFd out(ends[0]);
  const UniqueFd in(ends[1]);  // closed at the end of the scope, so that the reader sees the end
  Require(write(in.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
          "the pipe takes its bytes");
  return out;
}

// Returns recordings of every layout: a file, a file with every sample field, a stream, a
// compressed file, and files without events. Defined in recording_targets.cc.
std::vector<Bytes> FileSeeds();

}  // namespace profiler::fuzz
