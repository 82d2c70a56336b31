// What is recorded or counted, checked and found on this machine.

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/procfs/proc_file.h"

namespace profiler::target {

// A command may go together with any of the others and then only says how long; alone, it is what
// is observed.
struct Targets {
  std::vector<pid_t> pids;  // with all their threads
  std::vector<pid_t> tids;  // these alone
  // `pids` were looked up a moment ago, by their user for instance: those that are gone are left
  // out.
  bool pids_may_be_gone = false;
  // Some of `pids`, whose descendants are observed as well. Those that run are in `pids`; of these
  // that start others before they are observed, the others are looked for again.
  std::vector<pid_t> trees;
  // Lines for the user: which processes a name stood for, and which are not observed that may have
  // been meant.
  std::vector<std::string> notes;
  bool system_wide = false;
  std::vector<int> cpus;             // empty: all that are online
  std::vector<std::string> command;  // argv; found through PATH

  bool has_threads() const { return !pids.empty() || !tids.empty(); }
  bool is_command_alone() const { return !command.empty() && !has_threads() && !system_wide; }
};

// kInvalidArgument where nothing is named, or what does not go together. `verb` is "record" or
// "count".
absl::Status CheckTargets(const Targets& targets, const std::string& verb);

// Those asked for, or all that are online; ascending, each once. kInvalidArgument for one that is
// offline; the errors of procfs::OnlineCpus.
absl::StatusOr<std::vector<int>> ChooseCpus(const procfs::Roots& roots, const Targets& targets);

struct Thread {
  pid_t pid = 0;
  pid_t tid = 0;
};

// The processes of a user, named or by number, but for this one. kNotFound for a user that is not
// there or has none.
absl::StatusOr<std::vector<pid_t>> ProcessesOfUser(const procfs::Roots& roots,
                                                   const std::string& user);

// The processes that are called so (procfs::NamesOf), ascending, but for this one; `name` may have
// the wildcards of fnmatch(3). kNotFound where there are none.
absl::StatusOr<std::vector<pid_t>> ProcessesNamed(const procfs::Roots& roots,
                                                  const std::string& name);

// All that these processes have started and what those have, as far as it still runs and its parent
// does; ascending, without `pids` and without this one.
absl::StatusOr<std::vector<pid_t>> DescendantsOf(const procfs::Roots& roots,
                                                 const std::vector<pid_t>& pids);

// All that `pids` and `tids` name, as they run now. kNotFound (ESRCH) for a process or thread that
// does not.
absl::StatusOr<std::vector<Thread>> FindThreads(const procfs::Roots& roots, const Targets& targets);

}  // namespace profiler::target
