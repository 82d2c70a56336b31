// Parses lines of /proc/PID/maps.
//
//   7f33a3539000-7f33a368f000 r-xp 00026000 fe:00 332835   /usr/lib/x86_64-linux-gnu/libc.so.6
//   start        end          prot pgoff    dev   inode    name
//
// Source: fs/proc/task_mmu.c (show_map_vma), Linux 6.18.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace profiler::procfs {

struct MemoryMap {
  uint64_t start = 0, end = 0;  // addresses in the process
  uint64_t pgoff = 0;           // offset in the file, in bytes
  uint32_t prot = 0;            // bits PROT_*
  uint32_t flags = 0;           // MAP_SHARED or MAP_PRIVATE
  uint32_t maj = 0, min = 0;
  uint64_t ino = 0;
  // The name in the line: a path, perhaps followed by " (deleted)", or a name like [vdso]; empty
  // for anonymous memory. Newlines are escaped as \012. Points into the line.
  std::string_view name;
};

// Returns nullopt if the line does not have this form.
std::optional<MemoryMap> ParseMapsLine(std::string_view line);

// True if the open file is the file of a mapping with this device and inode. On overlayfs a mapping
// shows the device of the lower file, and stat(2) shows the device of the overlay; the inode is the
// same if all layers are in one file system. On btrfs stat(2) shows the device of the subvolume.
bool IsMappedFile(int file, uint32_t maj, uint32_t min, uint64_t ino);

// Returns the name as in the kernel's MMAP2 record: newlines unescaped, "//anon" for anonymous
// memory.
std::string RecordName(const MemoryMap& map);

}  // namespace profiler::procfs
