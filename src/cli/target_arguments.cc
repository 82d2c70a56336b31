#include "src/cli/target_arguments.h"

#include <utility>

#include "src/cli/option_values.h"
#include "src/procfs/machine.h"

namespace profiler::cli {

void AddTargetOptions(CLI::App& command, const std::string& verb, TargetArguments* arguments) {
  command.add_option("-p,--pid", arguments->pids, verb + " these processes")->type_name("PID,…");
  command.add_option("-t,--tid", arguments->tids, verb + " these threads")->type_name("TID,…");
  command
      .add_option("-u,--uid", arguments->user,
                  verb + " all processes that this user has now, and what they start")
      ->type_name("USER");
  command.add_flag("-a,--all-cpus", arguments->system_wide, verb + " everything on all CPUs");
  command.add_option("-C,--cpu", arguments->cpus, "only on these CPUs")->type_name("0,2-3");
}

absl::StatusOr<target::Targets> ReadTargets(const TargetArguments& arguments,
                                            const std::string& verb,
                                            std::vector<std::string> command) {
  target::Targets targets{.system_wide = arguments.system_wide, .command = std::move(command)};
  if (!arguments.pids.empty()) {
    PROFILER_ASSIGN_OR_RETURN(targets.pids, ParseIdList(arguments.pids));
  }
  if (!arguments.tids.empty()) {
    PROFILER_ASSIGN_OR_RETURN(targets.tids, ParseIdList(arguments.tids));
  }
  if (!arguments.user.empty()) {
    if (targets.has_threads()) {
      return absl::InvalidArgumentError("-u: -p and -t do not go with it");
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
