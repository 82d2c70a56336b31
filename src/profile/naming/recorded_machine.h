// Decides by a recording's features whether the recorded kernel is the one that runs now.
//
//   build-id of the kernel           equal: this kernel; different: another kernel
//   else host, release and machine   equal, and recorded since this machine started: this kernel
//                                    equal, time unknown: this kernel if it lies at the recorded
//                                    kernel's address
//                                    different or missing: another kernel
//
// The kernel's version (uname -v) is in no recording.

#pragma once

#include <string>

#include "src/format/perf_data/format/features.h"
#include "symbolize/symbolizer.h"

namespace profiler::naming {

// Sets the facts of `files` about the recorded machine and its kernel. With `symfs`, the list of
// symbols below it counts as the recorded kernel's, unless a build-id shows that the list belongs
// to another kernel.
void TellRecordedMachine(const perf_data::Features& features, symbolize::SymbolizerOptions* files);

// Returns the name that records use for the image with that build-id. A table of build-ids may have
// any file name for the kernel.
std::string NameInBuildIds(const perf_data::BuildIdEntry& entry);

}  // namespace profiler::naming
