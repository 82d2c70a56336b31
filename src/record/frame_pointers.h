// Tells by an image's call frame information whether its code keeps frame pointers.

#pragma once

#include <optional>

#include "symbolize/elf/elf_image.h"

namespace profiler::record {

// Whether the image's functions were compiled to keep frame pointers, by what a sample of its call
// frame information says of where frames are found. Nothing for an image without any.
std::optional<bool> KeepsFramePointers(const symbolize::ElfImage& image);

}  // namespace profiler::record
