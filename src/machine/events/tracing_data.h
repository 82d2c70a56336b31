// Encodes TRACING_DATA: the kernel's description of tracepoints, so that other machines can read
// their records.
//   0x17 0x08 0x44 "tracing" "0.6\0"  byte order (1: big)  size of long  u32 page size
//   "header_page\0"   u64 size, text
//   "header_event\0"  u64 size, text
//   u32 0                            formats of the function tracer: none
//   u32 systems   each: name \0, u32 events, each: u64 size, text of its format file
//   u32 0                            kallsyms: no longer stored in files
//   u32 size, printk_formats
//   u64 size, saved_cmdlines
//
// Source: tools/perf/util/trace-event-info.c and trace-event-read.c, Linux 7.2.

#pragma once

#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/machine/events/tracepoints.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::events {

// Encodes these tracepoints, in any order. Errors: those of TracingDirectory, and of reading there.
absl::StatusOr<std::string> TracingData(const procfs::Roots& roots,
                                        const std::vector<Tracepoint>& tracepoints);

}  // namespace profiler::events
