// Which processes and threads run, and what they are called.

#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/procfs/proc_file.h"

namespace profiler::procfs {

// In ascending order. Errors: those of opendir(3) on /proc.
absl::StatusOr<std::vector<pid_t>> ProcessIds(const Roots& roots);

// The threads of `pid` in ascending order, so the leader is normally first. kNotFound when no such
// process runs. Costs one readdir(3).
absl::StatusOr<std::vector<pid_t>> ThreadIds(const Roots& roots, pid_t pid);

// Returns the first thread of `pid` that has not ended: not `pid` itself if that has called
// pthread_exit(3) and others run on. Empty when none is left. Costs one file per thread looked at.
std::optional<pid_t> LivingThread(const Roots& roots, pid_t pid);
// False once thread `tid` has ended, also if its parent has not taken notice of that yet.
bool ThreadLives(const Roots& roots, pid_t tid);

// The process that thread `tid` belongs to; kNotFound when it is gone.
absl::StatusOr<pid_t> ProcessOf(const Roots& roots, pid_t tid);

// The name of a thread as the kernel's COMM records have it: at most 15 bytes. kNotFound when it is
// gone.
absl::StatusOr<std::string> CommOf(const Roots& roots, pid_t pid, pid_t tid);

// The parent process of `pid`, 0 when it has none here. kNotFound when it is gone.
absl::StatusOr<pid_t> ParentOf(const Roots& roots, pid_t pid);

// All that run, by their processes' numbers, each with its parent; without those that have ended
// and were not waited for. Costs two files a process.
struct ProcessParent {
  pid_t pid = 0;
  pid_t parent = 0;
};
absl::StatusOr<std::vector<ProcessParent>> ProcessParents(const Roots& roots);

// What a process may be called by: its first thread's name, and the last components of its file and
// of the command that it was started as, as far as they can be read. Empty when it is gone.
std::vector<std::string> NamesOf(const Roots& roots, pid_t pid);

}  // namespace profiler::procfs
