// Removes all rights from a process except those to read files that it receives.
//
//   capabilities     all dropped, for good (no_new_privs)
//   Landlock         no file can be opened by name (if the kernel has Landlock)
//   seccomp filter   permits memory, open descriptors and clocks; these calls fail:
//                    open and similar calls, and executable memory, with EACCES
//                    everything else with EPERM
//   /proc            other processes of the user can neither read its memory nor attach to it
//
// A refused system call returns an error, which libraries handle; it does not kill the process.

#pragma once

#include "src/base/status.h"

namespace profiler::symbolize {

// Confines this process permanently. It must have one thread and cannot start others later.
//
// Errors: kUnimplemented if the kernel, or a filter that is already installed, refuses a new
// filter; then this process must not read untrusted files. Missing Landlock is no error. Source:
// seccomp(2), landlock(7), libseccomp 2.5.
absl::Status ConfineThisProcess();

// Checks whether a process can be confined, by confining a child that does nothing else. Errors:
// kUnimplemented; those of fork(2).
absl::Status TryConfinement();

// Returns true if the kernel has Landlock (Linux 5.13) and it is enabled.
bool HasLandlock();

}  // namespace profiler::symbolize
