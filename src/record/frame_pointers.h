// Tells from an image's call frame information whether its code keeps frame pointers.

#pragma once

#include <optional>

#include "symbolize/elf/elf_image.h"

namespace profiler::record {

// Returns true if the image's functions were compiled to keep frame pointers. Decides by some of
// the rules in its call frame information; returns nothing if the image has no such information.
std::optional<bool> KeepsFramePointers(const symbolize::ElfImage& image);

}  // namespace profiler::record
