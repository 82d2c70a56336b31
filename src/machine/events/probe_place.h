// Finds the position of a probe: the offset in a program's file, or in a kernel function, that a
// symbol names.
//
// The PMUs "uprobe" and "kprobe" insert a breakpoint at that position while the event is open.
// Nothing is written to tracefs. The fields of the attr are:
//
//            config bit "retprobe"   config1                config2
//   uprobe   at the return           -> path of the file    offset in the file
//   kprobe   at the return           -> name of a function  offset from it
//
// Source: perf_event_open(2), "kprobe and uprobe"; kernel/events/core.c, Linux 6.18.

#pragma once

#include <cstdint>
#include <string>

#include "src/base/status.h"
#include "src/machine/events/event_text.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::events {

struct ProbePlace {
  uint32_t type = 0;  // attr.type: the number of the PMU
  uint64_t config = 0;
  std::string probed;   // target of the pointer in config1
  uint64_t offset = 0;  // value of config2, in bytes
  std::string danger;   // danger of a return probe in a program (return_danger.h); empty: none
};

// Finds a symbol in the symbol tables of a file, of its debug file and of .gnu_debugdata. Accepts
// the linker's name and the demangled name; the demangled name may omit the parameters. Errors:
//   kNotFound         the kernel lacks the PMU, or the file lacks the symbol
//   kInvalidArgument  several functions have the name, the symbol's code is not in the file, or the
//                     position is inside an instruction (instruction_bounds.h)
// Also fails with the errors of opening the file.
absl::StatusOr<ProbePlace> FindProbePlace(const procfs::Roots& roots, const Probe& probe);

}  // namespace profiler::events
