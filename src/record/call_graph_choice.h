// Decides for a recording whether the kernel can follow its targets' frame pointers.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "src/procfs/machine.h"
#include "src/record/options.h"

namespace profiler::record {

struct CallGraphChoice {
  CallGraph call_graph = CallGraph::kFramePointers;
  std::string reason;  // such as "dwarf, as /usr/bin/g++ has no frame pointers"
};

// What unwinding may cost on this machine.
struct UnwindingMeans {
  procfs::PerfLimits limits;
  uint64_t capabilities = 0;
  size_t page_size = 4096;
  uint64_t memory = 0;              // of the machine, in bytes
  size_t cpus = 1;                  // that are recorded
  uint64_t samples_per_second = 0;  // a CPU
};

// Of stack that a sample of a recording of everything copies: most stacks are no deeper, and what
// is joins what was seen before.
inline constexpr uint32_t kSystemWideStackBytes = 16384;

// kDwarf when the executable or the C library of a target has no frame pointers, or when neither
// can be read; kFramePointers when they have. Of everything kDwarf where unwinding takes at most a
// twentieth of one CPU, at 12 µs a sample, and where the rings fit into a 64th of the memory and
// into what may be locked. Reads a few pages of these files.
CallGraphChoice ChooseCallGraph(const RecordOptions& options, const UnwindingMeans& means);

}  // namespace profiler::record
