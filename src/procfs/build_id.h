// The GNU build-id of an image: the note of type NT_GNU_BUILD_ID that its linker wrote.
//
//   Elf_Nhdr { u32 namesz, descsz, type } "GNU\0" | build-id, 1 to 20 bytes | padding to 4 | next
//   note
//
// Source: include/uapi/linux/elf.h and lib/buildid.c, Linux 6.18.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/procfs/proc_file.h"

namespace profiler::procfs {

using BuildId = std::vector<std::byte>;

// The build-id of a 64-bit ELF image of this machine's byte order; empty when the file cannot be
// read, is no such image or has none. Reads the headers and the notes, nothing else: some 10 µs.
// `root` is that of OpenRegularFile (src/base/regular_file.h). With `inode`, only a file that has
// that one counts: by now the path may be another file's, or the root another process's.
BuildId BuildIdOfFile(const std::string& path, const std::string& root = {},
                      std::optional<uint64_t> inode = {});
BuildId BuildIdOfFd(int fd);

// The running kernel's, from /sys/kernel/notes.
BuildId BuildIdOfKernel(const Roots& roots);

}  // namespace profiler::procfs
