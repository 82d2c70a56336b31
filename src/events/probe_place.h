// Where a probe goes: the place in a program's file, or in the kernel, that a symbol names.
//
// The PMUs "uprobe" and "kprobe" put a breakpoint there for as long as the event is open, without
// anything being written to tracefs:
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
#include "src/events/event_text.h"
#include "src/procfs/proc_file.h"

namespace profiler::events {

struct ProbePlace {
  uint32_t type = 0;  // of the PMU
  uint64_t config = 0;
  std::string probed;   // what config1 points to
  uint64_t offset = 0;  // config2
  std::string danger;   // of a return probe in a program (return_danger.h); empty: none
};

// Finds a symbol of a file in its tables, those of its debug file and in .gnu_debugdata; the name
// is the linker's, or as it is shown, with or without parameters. Errors: kNotFound where the
// kernel has no such PMU or the file no such symbol; kInvalidArgument where several functions have
// the name, none of its bytes is in the file, or the place is inside an instruction
// (instruction_bounds.h); those of opening the file.
absl::StatusOr<ProbePlace> FindProbePlace(const procfs::Roots& roots, const Probe& probe);

}  // namespace profiler::events
