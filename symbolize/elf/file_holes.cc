#include "symbolize/elf/file_holes.h"

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>

namespace profiler::symbolize {
namespace {

constexpr off_t kLeastHole = off_t{64} << 10;
constexpr int kMostHoles = 1 << 14;

}  // namespace

std::vector<FileHole> HolesOf(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0) return {};
  std::vector<FileHole> holes;
  const auto add = [&](off_t start, off_t end) {
    if (end - start < kLeastHole) return;
    holes.push_back({static_cast<uint64_t>(start), static_cast<uint64_t>(end - start)});
  };
  off_t at = 0;
  for (int i = 0; i < kMostHoles; ++i) {
    const off_t start = lseek(fd, at, SEEK_HOLE);
    if (start < 0 || start >= status.st_size) return holes;  // the end counts as a hole
    at = lseek(fd, start, SEEK_DATA);
    const bool is_last = at < 0 && errno == ENXIO;
    if (at < 0 && !is_last) return holes;
    add(start, is_last ? status.st_size : at);
    if (is_last) return holes;
  }
  add(at, status.st_size);
  return holes;
}

}  // namespace profiler::symbolize
