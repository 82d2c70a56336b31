// Opens cgroups for perf_event_open(2), which takes a folder of the hierarchy that perf events use.
//
// That is cgroup2, wherever it is mounted, unless version 1 has a hierarchy with the controller
// perf_event.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::target {

// Returns the mount point from the text of /proc/self/mountinfo; empty if there is none.
std::string CgroupMountPoint(std::string_view mountinfo);

// Opens the cgroup `name`, a path below the mount point; "/" is all cgroups. Errors: kNotFound if
// there is no hierarchy or no such cgroup; those of open(2).
absl::StatusOr<UniqueFd> OpenCgroup(const procfs::Roots& roots, const std::string& name);

// Opens the cgroup of each name; the descriptor of an empty name is invalid. Errors:
// kInvalidArgument if a cgroup is named without `system_wide`, because the kernel selects cgroups
// by the thread that runs on a CPU; those of OpenCgroup.
absl::StatusOr<std::vector<UniqueFd>> OpenCgroups(const procfs::Roots& roots,
                                                  const std::vector<std::string>& names,
                                                  bool system_wide);

}  // namespace profiler::target
