// Decides for a recording whether the kernel can follow its targets' frame pointers.

#pragma once

#include <optional>
#include <string>

#include "src/record/options.h"
#include "symbolize/elf_image.h"

namespace profiler::record {

struct CallGraphChoice {
  CallGraph call_graph = CallGraph::kFramePointers;
  std::string reason;  // such as "dwarf, as /usr/bin/g++ has no frame pointers"
};

// kDwarf when the executable or the C library of a target has no frame pointers, or when neither
// can be read; kFramePointers when they have, and for a recording of everything, which copying
// stacks would make expensive. Reads a few pages of these files.
CallGraphChoice ChooseCallGraph(const RecordOptions& options);

// Whether the image's functions were compiled to keep frame pointers, by what a sample of its call
// frame information says of where frames are found. Nothing for an image without any.
std::optional<bool> KeepsFramePointers(const symbolize::ElfImage& image);

}  // namespace profiler::record
