// Where a file has nothing on disk. A sparse file may say that it is terabytes large and have a
// page, and whoever reads what it says it has reads zeros for hours.
//
//   on disk     ├─ data ─┤                      ├─ data ─┤
//   the file    ├────────┼─ hole: all zeros ────┼────────┤
//
// Source: lseek(2), SEEK_HOLE. A file system that compresses, or that knows no holes, has none.

#pragma once

#include <cstdint>
#include <vector>

namespace profiler::symbolize {

struct FileHole {
  uint64_t offset = 0;
  uint64_t size = 0;
};

// The holes of at least 64 KiB in an open file, by offset. Of more than 2^14 holes what follows is
// taken for one that reaches to the end. Empty where they cannot be told. Cost: two system calls a
// hole, and one for a file without any. Leaves the position of `fd` anywhere.
std::vector<FileHole> HolesOf(int fd);

}  // namespace profiler::symbolize
