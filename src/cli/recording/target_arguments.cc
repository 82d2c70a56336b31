#include "src/cli/recording/target_arguments.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/cli/option_values.h"
#include "src/machine/procfs/machine.h"

namespace profiler::cli {
namespace {

constexpr size_t kListed = 8;

std::string Listed(const std::vector<pid_t>& pids) {
  const size_t count = std::min(pids.size(), kListed);
  return absl::StrCat(
      absl::StrJoin(pids.begin(), pids.begin() + static_cast<ptrdiff_t>(count), ", "),
      count < pids.size() ? ", …" : "");
}

// True for "12", and for "12 34", the output of pidof(1).
bool AreNumbers(const std::string& text) {
  return text.find_first_of("0123456789") != std::string::npos &&
         text.find_first_not_of("0123456789 \n") == std::string::npos;
}

absl::Status AddNamed(const std::string& name, target::Targets* targets) {
  PROFILER_ASSIGN_OR_RETURN(const std::vector<pid_t> found, target::ProcessesNamed({}, name));
  targets->pids.insert(targets->pids.end(), found.begin(), found.end());
  targets->pids_may_be_gone = true;
  targets->notes.push_back(absl::StrCat(
      "-p ", name, ": ",
      found.size() == 1 ? "process " : absl::StrCat(found.size(), " processes, "), Listed(found)));
  return absl::OkStatus();
}

absl::Status ReadProcesses(const std::string& text, target::Targets* targets) {
  const std::vector<std::string> pieces = SplitList(text);
  std::vector<std::string> numbers;
  for (const std::string& piece : pieces) {
    if (AreNumbers(piece)) {
      numbers.push_back(piece);
    } else {
      PROFILER_RETURN_IF_ERROR(AddNamed(piece, targets));
    }
  }
  if (!numbers.empty() || pieces.empty()) {
    PROFILER_ASSIGN_OR_RETURN(const std::vector<int> pids,
                              ParseIdList(absl::StrJoin(numbers, ",")));
    // A process that is given by id must exist.
    PROFILER_RETURN_IF_ERROR(target::FindThreads({}, {.pids = pids}).status());
    targets->pids.insert(targets->pids.end(), pids.begin(), pids.end());
  }
  std::sort(targets->pids.begin(), targets->pids.end());
  targets->pids.erase(std::unique(targets->pids.begin(), targets->pids.end()), targets->pids.end());
  return absl::OkStatus();
}

// Adds the existing descendants of the processes.
absl::Status ReadTrees(const TargetArguments& arguments, const std::string& verb,
                       target::Targets* targets) {
  PROFILER_ASSIGN_OR_RETURN(const std::vector<pid_t> found,
                            target::DescendantsOf({}, targets->pids));
  if (arguments.trees) {
    targets->trees = targets->pids;
    targets->pids.insert(targets->pids.end(), found.begin(), found.end());
    targets->pids_may_be_gone = true;
  } else if (!found.empty()) {
    const std::string parents = targets->pids.size() == 1
                                    ? absl::StrCat("process ", targets->pids[0], " has ")
                                    : "they have ";
    targets->notes.push_back(
        absl::StrCat(parents, found.size(),
                     found.size() == 1 ? " child process that is" : " child processes that are",
                     " not ", verb, "ed (", Listed(found), "): --tree ", verb, "s ",
                     found.size() == 1 ? "it" : "them", " too"));
  }
  return absl::OkStatus();
}

}  // namespace

void AddTargetOptions(usage::Command& command, const std::string& verb,
                      TargetArguments* arguments) {
  command
      .AddOption("-p,--pid", arguments->processes,
                 verb +
                     " these processes and their new children; a program's name, which may have "
                     "wildcards, means all its running processes")
      .ValueName("PID|NAME,…");
  command.AddFlag("--tree", arguments->trees,
                  "with -p: also all existing children and their children");
  command.AddOption("-t,--tid", arguments->tids, verb + " these threads").ValueName("TID,…");
  command
      .AddOption("-u,--uid", arguments->user,
                 verb + " all current processes of this user, and their new children")
      .ValueName("USER");
  command.AddFlag("-a,--all-cpus", arguments->system_wide, verb + " everything on all CPUs");
  command.AddOption("-C,--cpu", arguments->cpus, "only on these CPUs").ValueName("0,2-3");
}

absl::StatusOr<target::Targets> ReadTargets(const TargetArguments& arguments,
                                            const std::string& verb,
                                            std::vector<std::string> command) {
  target::Targets targets{.system_wide = arguments.system_wide, .command = std::move(command)};
  if (arguments.trees && arguments.processes.empty()) {
    return absl::InvalidArgumentError("--tree needs -p, which names the processes");
  }
  if (!arguments.processes.empty()) {
    PROFILER_RETURN_IF_ERROR(ReadProcesses(arguments.processes, &targets));
    PROFILER_RETURN_IF_ERROR(ReadTrees(arguments, verb, &targets));
  }
  if (!arguments.tids.empty()) {
    PROFILER_ASSIGN_OR_RETURN(targets.tids, ParseIdList(arguments.tids));
  }
  if (!arguments.user.empty()) {
    if (targets.has_threads()) {
      return absl::InvalidArgumentError("-u cannot be used with -p or -t");
    }
    PROFILER_ASSIGN_OR_RETURN(targets.pids, target::ProcessesOfUser({}, arguments.user));
    targets.pids_may_be_gone = true;
  }
  if (!arguments.cpus.empty()) {
    PROFILER_ASSIGN_OR_RETURN(targets.cpus, procfs::ParseCpuList(arguments.cpus));
  }
  if (!targets.cpus.empty() && !targets.has_threads() && targets.command.empty()) {
    targets.system_wide = true;
  }
  PROFILER_RETURN_IF_ERROR(target::CheckTargets(targets, verb));
  return targets;
}

}  // namespace profiler::cli
