// Finds holes of sparse files: ranges that are not on disk. A sparse file may claim terabytes and
// occupy one page. Reading its claimed size would return zeros for hours.
//
//   on disk     ├─ data ─┤                      ├─ data ─┤
//   the file    ├────────┼─ hole: all zeros ────┼────────┤
//
// Source: lseek(2), SEEK_HOLE. File systems without support for holes, or with compression, report
// none.

#pragma once

#include <cstdint>
#include <vector>

namespace profiler::symbolize {

struct FileHole {
  uint64_t offset = 0;
  uint64_t size = 0;
};

// Returns the holes of at least 64 KiB in an open file, sorted by offset. After 2^14 holes, all
// further bytes count as one hole. Empty if the file system does not report holes. Cost: two system
// calls per hole, or one call for a file without holes. Changes the position of `fd`.
std::vector<FileHole> HolesOf(int fd);

}  // namespace profiler::symbolize
