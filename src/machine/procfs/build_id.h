// Reads the GNU build-id of an image: the NT_GNU_BUILD_ID note that its linker wrote.
//
//   Elf_Nhdr { u32 namesz, descsz, type } "GNU\0" │ build-id, 1 to 20 bytes │ padding to 4 │ next
//
// Source: include/uapi/linux/elf.h and lib/buildid.c, Linux 6.18.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/machine/procfs/proc_file.h"

namespace profiler::procfs {

using BuildId = std::vector<std::byte>;

// Returns the build-id of a 64-bit ELF image of this machine's byte order; empty if the file cannot
// be read, is not such an image, or has no build-id. Reads only the headers and the notes, some
// 10 µs. `root` means the same as in OpenRegularFile (src/base/regular_file.h). If `inode` is
// given, a file with another inode is ignored, because by now the path may lead to another file, or
// the root may belong to another process.
BuildId BuildIdOfFile(const std::string& path, const std::string& root = {},
                      std::optional<uint64_t> inode = {});
BuildId BuildIdOfFd(int fd);

// Returns the running kernel's build-id, from /sys/kernel/notes.
BuildId BuildIdOfKernel(const Roots& roots);

}  // namespace profiler::procfs
