// Decides whether a recording gets its call chains from frame pointers or by unwinding (`auto`).

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "src/machine/procfs/machine.h"
#include "src/record/options.h"

namespace profiler::record {

struct CallGraphChoice {
  CallGraph call_graph = CallGraph::kFramePointers;
  // A line for the user, such as "dwarf (/usr/bin/g++ has no frame pointers)".
  std::string reason;
};

// The limits of this machine that decide whether unwinding is affordable.
struct UnwindingMeans {
  procfs::PerfLimits limits;
  uint64_t capabilities = 0;
  size_t page_size = 4096;
  uint64_t memory = 0;              // memory of the machine, in bytes
  size_t cpus = 1;                  // number of recorded CPUs
  uint64_t samples_per_second = 0;  // samples per second on one CPU
};

// Bytes of stack that each sample of a system-wide recording copies. Most stacks are no deeper.
inline constexpr uint32_t kSystemWideStackBytes = 16384;

// Returns kDwarf if the executable or the C library of a target has no frame pointers, or if
// neither can be read; otherwise kFramePointers. Reads a few pages of these files.
//
// For a system-wide recording, returns kDwarf under two conditions. Unwinding takes at most a
// twentieth of one CPU, at 12 µs per sample. The rings fit into a 64th of the memory and into the
// limit on locked memory.
CallGraphChoice ChooseCallGraph(const RecordOptions& options, const UnwindingMeans& means);

}  // namespace profiler::record
