// Proves by its features that a recording was made by the kernel that runs here, or that it was
// not.
//
//   build-id of the kernel           this kernel's, or another one's
//   else host, release and machine   those of this machine, and the recording was made since it was
//                                    started: this kernel's
//                                    those, and nothing says when: this kernel's if that lies where
//                                    the recorded one lay
//                                    others, or none: another one's
//
// The kernel's version (uname -v) is in no recording.

#pragma once

#include <string>

#include "src/perf_data/format/features.h"
#include "symbolize/symbolizer.h"

namespace profiler::naming {

// Sets what `files` says of the recorded machine and its kernel. Below `symfs` is that kernel's
// list of symbols, whatever the features prove, unless a build-id says that it is another one's.
void TellRecordedMachine(const perf_data::Features& features, symbolize::SymbolizerOptions* files);

// Returns the name that records have for the image of that build-id. A table of build-ids may have
// any file's name for the kernel.
std::string NameInBuildIds(const perf_data::BuildIdEntry& entry);

}  // namespace profiler::naming
