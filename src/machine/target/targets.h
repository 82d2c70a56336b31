// Checks the targets of a recording or count, and finds them on this machine.

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::target {

// The targets as the user named them. If a command is the only target, the command is observed. If
// there are other targets, the command's run time only limits the recording or count.
struct Targets {
  std::vector<pid_t> pids;  // processes to observe, with all their threads
  std::vector<pid_t> tids;  // threads to observe
  // True if `pids` were found by a search, for example for a user's processes. Processes that have
  // ended since the search are then skipped.
  bool pids_may_be_gone = false;
  // Processes whose descendants are observed, too; a subset of `pids`. `pids` already contains the
  // descendants that run. If these start more processes before they are observed, the recorder
  // searches for descendants again.
  std::vector<pid_t> trees;
  // Lines for the user: which processes a name matched, and which processes with similar names are
  // not observed.
  std::vector<std::string> notes;
  bool system_wide = false;
  std::vector<int> cpus;             // CPUs to observe; empty: all online CPUs
  std::vector<std::string> command;  // argv; argv[0] is searched in PATH

  bool has_threads() const { return !pids.empty() || !tids.empty(); }
  bool is_command_alone() const { return !command.empty() && !has_threads() && !system_wide; }
};

// Returns kInvalidArgument if no target is named, or if targets cannot be combined. `verb` is
// "record" or "count".
absl::Status CheckTargets(const Targets& targets, const std::string& verb);

// Returns the requested CPUs, or all that are online; ascending, without duplicates. Errors:
// kInvalidArgument for a CPU that is offline; those of procfs::OnlineCpus.
absl::StatusOr<std::vector<int>> ChooseCpus(const procfs::Roots& roots, const Targets& targets);

struct Thread {
  pid_t pid = 0;
  pid_t tid = 0;
};

// Returns the processes of a user, given by name or number, without this process. Error: kNotFound
// if the user does not exist or has no processes.
absl::StatusOr<std::vector<pid_t>> ProcessesOfUser(const procfs::Roots& roots,
                                                   const std::string& user);

// Returns the processes of that name (procfs::NamesOf), ascending, without this process. `name` may
// contain wildcards of fnmatch(3). Error: kNotFound if there are none.
absl::StatusOr<std::vector<pid_t>> ProcessesNamed(const procfs::Roots& roots,
                                                  const std::string& name);

// Returns the running descendants of these processes, ascending, without `pids` and this process.
// Does not find a descendant if one of its ancestors below `pids` has ended.
absl::StatusOr<std::vector<pid_t>> DescendantsOf(const procfs::Roots& roots,
                                                 const std::vector<pid_t>& pids);

// Returns all threads that `pids` and `tids` name and that run now. Error: kNotFound (ESRCH) for a
// process or thread that does not run.
absl::StatusOr<std::vector<Thread>> FindThreads(const procfs::Roots& roots, const Targets& targets);

}  // namespace profiler::target
