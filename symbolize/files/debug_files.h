// Finds what was split off an image: symbols, debug information, call frame information.
//
//   IMAGE                 itself
//   .build-id/ab/cdef     below the debug directories, `.debug`, and perf's caches, `/debug`
//   .gnu_debuglink        beside the image, in .debug/ there, and below the debug directories
//   debuginfod            what was fetched, by build-id
//   .gnu_debugdata        in the image, packed with xz: symbols alone
//
// Nothing is used of a file that belongs to another image: its build-id must be the image's, or,
// where that has none, its CRC-32 what the link says. A link is followed where both the image and
// the file that it leads to are files of root or of the effective user: those of others could lead
// root to any file.

#pragma once

#include <optional>

#include "symbolize/image_file.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// The first one that has symbols or debug information. One search serves symbol tables, source
// lines and unwinding.
std::optional<ImageFile> OpenDebugFile(const ImageFile& image, const SymbolizerOptions& options);

// The ELF file in .gnu_debugdata ("MiniDebugInfo"): .symtab of the functions that .dynsym lacks.
// At most kMostMiniBytes.
std::optional<ImageFile> UnpackMiniDebugInfo(const ImageFile& image);
inline constexpr size_t kMostMiniBytes = size_t{64} << 20;

}  // namespace profiler::symbolize
