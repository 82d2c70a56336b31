// Takes from a process what it does not need to read files that it is handed.
//
//   capabilities     all dropped, and none can be got again (no_new_privs)
//   Landlock         no file can be opened by name (where the kernel has it)
//   seccomp filter   memory, its descriptors, its clock; all else fails:
//                    open and its kin, and executable memory, with EACCES
//                    everything else with EPERM
//   /proc            another process of the user cannot read its memory or attach to it
//
// Nothing that is refused kills. A library that tries finds an error, as from any system call.

#pragma once

#include "src/base/status.h"

namespace profiler::symbolize {

// For good. To be called in a process with one thread. Threads cannot be made afterwards.
//
// Errors: kUnimplemented where the kernel, or a filter that we live under already, refuses to
// install one: then the process must not go on to read what others wrote. That Landlock is missing
// is no error. Source: seccomp(2), landlock(7), libseccomp 2.5.
absl::Status ConfineThisProcess();

// Whether a process can be confined here: makes one that does nothing else. Errors: kUnimplemented;
// those of fork(2).
absl::Status TryConfinement();

// Whether the kernel has Landlock (Linux 5.13) and it is switched on.
bool HasLandlock();

}  // namespace profiler::symbolize
