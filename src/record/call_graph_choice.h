// Decides for a recording whether the kernel can follow its targets' frame pointers.

#pragma once

#include <string>

#include "src/record/options.h"

namespace profiler::record {

struct CallGraphChoice {
  CallGraph call_graph = CallGraph::kFramePointers;
  std::string reason;  // such as "dwarf, as /usr/bin/g++ has no frame pointers"
};

// kDwarf when the executable or the C library of a target has no frame pointers, or when neither
// can be read; kFramePointers when they have, and for a recording of everything, which copying
// stacks would make expensive. Reads a few pages of these files.
CallGraphChoice ChooseCallGraph(const RecordOptions& options);

}  // namespace profiler::record
