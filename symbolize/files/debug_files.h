// Finds the debug file of an image: symbols, debug information, call frame information.
//
//   IMAGE                 the image itself
//   .build-id/ab/cdef     in debug directories with suffix `.debug`, in perf's caches `/debug`
//   .gnu_debuglink        beside the image, in .debug/ beside it, and in debug directories
//   debuginfod            fetched files, by build-id
//   .gnu_debugdata        inside the image, compressed with xz: symbols only
//
// Files of other images are never used: the build-id must be that of the image, or, if the image
// has none, the CRC-32 must be that of the link. A link is followed only if root or the effective
// user owns both the image and the linked file, because links of other users could lead root to any
// file.

#pragma once

#include <optional>

#include "symbolize/image_file.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// Returns the first file that has symbols or debug information. Symbol tables, source lines and
// unwinding all use this search.
std::optional<ImageFile> OpenDebugFile(const ImageFile& image, const SymbolizerOptions& options);

// Returns the ELF file in .gnu_debugdata ("MiniDebugInfo"). Its .symtab has functions that .dynsym
// lacks. Reads at most kMostMiniBytes.
std::optional<ImageFile> UnpackMiniDebugInfo(const ImageFile& image);
inline constexpr size_t kMostMiniBytes = size_t{64} << 20;

}  // namespace profiler::symbolize
