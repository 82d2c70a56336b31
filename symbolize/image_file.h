// Opens the ELF file of an image: looks at its recorded path, in containers, and by build-id in
// caches.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/mapped_file.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// Properties of a file. They show whether a process had mapped this very file, and when it was
// written.
struct FileStamp {
  uint64_t device = 0, inode = 0;
  int64_t modified = 0;  // time of the last change, in nanoseconds of CLOCK_REALTIME
  // True if fstat(2) reports another device than /proc/PID/maps does, as on overlayfs and btrfs.
  bool hides_device = false;
};

// An ELF file in memory. Movable; `elf` stays valid when the struct is moved.
struct ImageFile {
  std::string path;  // path at which it was opened
  // The prefix of `path` that stands for "/": the root of another process, or --symfs.
  std::string root;
  MappedFile file;               // contents, if the image is on disk
  FileStamp stamp;               // stamp, if the image is on disk
  std::vector<std::byte> bytes;  // contents, if it is only in memory ([vdso], .gnu_debugdata)
  uint64_t start = 0;            // offset of the ELF file in `file`; not 0 in an archive
  ElfImage elf;
};

// Opens the ELF file at `path` below `root`. If the file is an archive and `within` is given, opens
// the ELF file inside it that contains the code at `within`. Refuses a file of other users than
// root and ourselves if it has more than `most_headers_of_others` sections and segments, because
// each takes memory while the image is open. Errors: those of MappedFile::Open (whose header
// explains `root`) and of ElfImage::Parse.
absl::StatusOr<ImageFile> OpenElf(const std::string& path, const std::string& root = {},
                                  size_t most_headers_of_others = SIZE_MAX,
                                  std::optional<FileOffset> within = {});

// Returns the root directory of the process in whose file system the image was opened. Later
// look-ups below this directory follow no link out of it. Empty if the image was opened in our own
// file system.
std::string ProcessRootOf(const ImageFile& image, const SymbolizerOptions& options);

struct OpenedImage {
  Reason reason = Reason::kNamed;  // kNamed: `file` is set; else why there is no file
  std::optional<ImageFile> file;
};

// Returns the directory /proc/PID of the process that mapped the image. Empty if there is none or
// it has ended, even if another process has its pid now.
std::string DirectoryOfProcess(const ImageSpec& spec, const SymbolizerOptions& options);

// Returns true if the image's process is alive and sees other files than we do, as in a container:
// it has another root directory or is in another mount namespace.
bool HasOwnRoot(const ImageSpec& spec, const SymbolizerOptions& options);

// Returns true if the path ends with the kernel's mark for deleted files, " (deleted)".
bool IsDeleted(std::string_view path);

// Opens the file of `spec`. Candidates, in this order:
// 1. For a deleted file: the files that process `spec.pid` has mapped. For any other file, if the
//    process lives in a file system of its own: the recorded path in that file system.
// 2. The recorded path, and the file that the recorder kept open.
// 3. Files with the recorded build-id in the debug directories, perf's caches and fetched files.
//
// A file with another build-id than the recorded one is never used. Some candidates have only the
// name of a deleted file, or of a file in another process's file system; these need the recorded
// build-id. If no build-id was recorded, a candidate found by its path must have the recorded
// device and inode, and must not have been written since the process ended. Below `symfs` this
// check is skipped, because files there have other inodes. `most_headers_of_others` and `within`
// are those of OpenElf.
OpenedImage OpenImage(const ImageSpec& spec, const SymbolizerOptions& options,
                      size_t most_headers_of_others = SIZE_MAX,
                      std::optional<FileOffset> within = {});

// Returns false if no candidate of OpenImage exists. Opens no file and takes some microseconds.
bool MayFindImage(const ImageSpec& spec, const SymbolizerOptions& options);

// Opens the [vdso] of the running kernel, for programs like this one or for 32-bit programs
// (kVdsoOf32Bit). It must have the recorded build-id; without one, the running kernel must be the
// recorded one. Otherwise opens the file with that build-id from perf's caches.
OpenedImage OpenVdso(const ImageSpec& spec, const SymbolizerOptions& options = {});

}  // namespace profiler::symbolize
