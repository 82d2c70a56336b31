// Finds the file of an image, and the file with the symbols that were split off it.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/mapped_file.h"
#include "symbolize/elf_image.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// An ELF file in memory. Movable; `elf` stays valid.
struct ImageFile {
  std::string path;              // where it was found
  MappedFile file;               // of an image on disk
  std::vector<std::byte> bytes;  // of one that is only in memory ([vdso])
  ElfImage elf;
};

struct OpenedImage {
  Reason reason = Reason::kNamed;  // why there is no file
  std::optional<ImageFile> file;
};

// Whether process `pid` lives in a file system of its own, as in a container.
bool HasOwnRoot(uint32_t pid, const SymbolizerOptions& options);

// Whether the kernel marked the path as that of a file that is gone.
bool IsDeleted(std::string_view path);

// Looks for `spec`'s file where it was recorded, then, while process `spec.pid` lives, in that
// process's own file system, and for a deleted file among what the process has mapped. Of a file
// that was found only under the name of a deleted or replaced one nothing is used unless its
// build-id is the recorded one.
OpenedImage OpenImage(const ImageSpec& spec, const SymbolizerOptions& options);

// This process's own [vdso], which the kernel has in memory only.
OpenedImage OpenVdso(const ImageSpec& spec);

// The file with `image`'s .symtab, if there is one: by build-id under the debug directories, by
// .gnu_debuglink beside the image, in .debug/ there, and under the debug directories. Never a file
// with another build-id, or, where the image has none, another CRC than the link says.
std::optional<ImageFile> OpenDebugFile(const ImageFile& image, const SymbolizerOptions& options);

}  // namespace profiler::symbolize
