// The options -p, --tree, -t, -u, -a and -C of record and stat.

#pragma once

#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/cli/usage/command_line.h"
#include "src/machine/target/targets.h"

namespace profiler::cli {

struct TargetArguments {
  std::string processes;
  bool trees = false;
  std::string tids;
  std::string user;
  std::string cpus;
  bool system_wide = false;
};

// Adds the options; `arguments` must live as long as the command. `verb` is "record" or "count".
void AddTargetOptions(usage::Command& command, const std::string& verb, TargetArguments* arguments);

// Converts the values. `command` is the command to run. If only CPUs are given, the target is
// everything that runs on them, as in perf. Returns kInvalidArgument for a malformed list of ids or
// CPUs, and kNotFound (ESRCH) for a process that does not run. Other errors: those of
// target::ProcessesNamed, target::ProcessesOfUser and target::CheckTargets.
absl::StatusOr<target::Targets> ReadTargets(const TargetArguments& arguments,
                                            const std::string& verb,
                                            std::vector<std::string> command);

}  // namespace profiler::cli
