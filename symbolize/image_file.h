// Finds the file of an image.

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

// Tells whether a file is the one that a process has mapped, and when it was written.
struct FileStamp {
  uint64_t device = 0, inode = 0;
  int64_t modified = 0;  // nanoseconds of CLOCK_REALTIME
  // True if the file system shows other devices to fstat(2) than to who reads mappings: overlayfs,
  // btrfs.
  bool hides_device = false;
};

// An ELF file in memory. Movable; `elf` stays valid.
struct ImageFile {
  std::string path;              // where it was found
  std::string root;              // the part of it that stands for "/": of another process, --symfs
  MappedFile file;               // of an image on disk
  FileStamp stamp;               // likewise
  std::vector<std::byte> bytes;  // of one that is only in memory ([vdso], .gnu_debugdata)
  uint64_t start = 0;            // of the ELF file in it: another than 0 in an archive
  ElfImage elf;
};

// Files that are neither root's nor the user's are refused where they have more sections and
// segments than `most_headers_of_others`: each takes memory, for as long as the image is open.
// In a file that is no ELF file itself it is the one that has the code at `within`, if that is
// given. Errors: those of MappedFile::Open, which says what `root` is, and of ElfImage::Parse.
absl::StatusOr<ImageFile> OpenElf(const std::string& path, const std::string& root = {},
                                  size_t most_headers_of_others = SIZE_MAX,
                                  std::optional<FileOffset> within = {});

// The root of the process in whose own file system the image was found, which no link or name in
// there leads out of; empty where it was found in ours.
std::string ProcessRootOf(const ImageFile& image, const SymbolizerOptions& options);

struct OpenedImage {
  Reason reason = Reason::kNamed;  // why there is no file
  std::optional<ImageFile> file;
};

// The directory /proc/PID of the process that the image was mapped in; empty where that is none, or
// has ended, whatever process has its number now.
std::string DirectoryOfProcess(const ImageSpec& spec, const SymbolizerOptions& options);

// Whether the image's process lives and sees other files than we do: it has another root directory
// or is in another mount namespace, as in a container.
bool HasOwnRoot(const ImageSpec& spec, const SymbolizerOptions& options);

// Whether the kernel marked the path as that of a file that is gone.
bool IsDeleted(std::string_view path);

// Looks for `spec`'s file where it was recorded, in the file system of process `spec.pid` first
// while that lives in one of its own, and for a deleted file among what the process has mapped;
// then, by build-id, in the debug directories and perf's caches. Nothing is used of a file with
// another build-id than the recorded one, nor of one that was found only under the name of a
// deleted or foreign one, unless its build-id is the recorded one. Where there is no build-id, a
// file that only its path leads to is the recorded one if it has the recorded device and inode and
// was not written since the process ended; `symfs` names files that have others.
// `most_headers_of_others` and `within` are as OpenElf has them.
OpenedImage OpenImage(const ImageSpec& spec, const SymbolizerOptions& options,
                      size_t most_headers_of_others = SIZE_MAX,
                      std::optional<FileOffset> within = {});

// False where OpenImage would find no file at all, whatever is in those that are there. Opens none,
// and takes some microseconds.
bool MayFindImage(const ImageSpec& spec, const SymbolizerOptions& options);

// The [vdso] that this kernel gives programs like this one, or those with 32 bits (kVdsoOf32Bit),
// if it has the recorded build-id, or without one if this kernel is the recorded one; else what
// perf's caches have of that build-id.
OpenedImage OpenVdso(const ImageSpec& spec, const SymbolizerOptions& options = {});

}  // namespace profiler::symbolize
