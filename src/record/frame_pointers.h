// Tells from an image's call frame information whether its code keeps frame pointers.

#pragma once

#include <optional>

#include "symbolize/elf/elf_image.h"
#include "symbolize/unwind/cfi_table.h"

namespace profiler::record {

// Returns true if the image's functions were compiled to keep frame pointers. Decides by some of
// the rules in its call frame information; returns nothing if the image has no such information.
std::optional<bool> KeepsFramePointers(const symbolize::ElfImage& image);

// Decides by the image's table, if the caller has made it already. `text` is its .text section.
std::optional<bool> KeepsFramePointers(symbolize::CfiTable& table,
                                       const symbolize::ElfSection& text);

}  // namespace profiler::record
