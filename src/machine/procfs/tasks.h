// Lists the running processes and threads, and their names.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::procfs {

// Returns the running processes, ascending. Errors: those of opendir(3) on /proc.
absl::StatusOr<std::vector<pid_t>> ProcessIds(const Roots& roots);

// Returns the threads of `pid`, ascending, so the leader is normally first. Error: kNotFound if the
// process does not run. Costs one readdir(3).
absl::StatusOr<std::vector<pid_t>> ThreadIds(const Roots& roots, pid_t pid);

// Returns the first thread of `pid` that has not ended. The result differs from `pid` if the first
// thread has called pthread_exit(3) and others run on. Returns nullopt if all threads have ended.
// Costs one file per thread that is checked.
std::optional<pid_t> LivingThread(const Roots& roots, pid_t pid);
// Returns false once thread `tid` has ended, even if its parent has not waited for it yet.
bool ThreadLives(const Roots& roots, pid_t tid);

// Returns the process of thread `tid`. Error: kNotFound if it is gone.
absl::StatusOr<pid_t> ProcessOf(const Roots& roots, pid_t tid);

// Returns the name of a thread as in the kernel's COMM records: at most 15 bytes. Error: kNotFound
// if it is gone.
absl::StatusOr<std::string> CommOf(const Roots& roots, pid_t pid, pid_t tid);

// Returns the parent process of `pid`, 0 if it has none in this PID namespace. Error: kNotFound if
// `pid` is gone.
absl::StatusOr<pid_t> ParentOf(const Roots& roots, pid_t pid);

// A running process and its parent. ProcessParents returns all processes except zombies, sorted by
// pid. It reads two files per process.
struct ProcessParent {
  pid_t pid = 0;
  pid_t parent = 0;
};
absl::StatusOr<std::vector<ProcessParent>> ProcessParents(const Roots& roots);

// The CPU time of a process, in user code and in the kernel.
struct ProcessTimes {
  std::chrono::nanoseconds own{0};
  std::chrono::nanoseconds ended_children{0};  // those that the process has waited for
};
// Reads the times of the process of this directory, such as /proc/17. Both are 0 if it is gone.
// Source: /proc/pid/stat in proc(5).
ProcessTimes TimesOf(const std::string& directory);

// Returns the names of a process: that of its first thread, and the last path components of its
// executable and of its command, if they can be read. Empty if the process is gone.
std::vector<std::string> NamesOf(const Roots& roots, pid_t pid);

}  // namespace profiler::procfs
