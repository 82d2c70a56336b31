// A cgroup as perf_event_open(2) takes it: an open folder of the hierarchy that perf events are
// counted by.
//
// That is cgroup2, wherever it is mounted, unless version 1 has a hierarchy with the controller
// perf_event.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/procfs/proc_file.h"

namespace profiler::target {

// The mount point in the text of /proc/self/mountinfo; empty where there is none.
std::string CgroupMountPoint(std::string_view mountinfo);

// Opens the cgroup of that name, a path below the mount point; "/" is all of them. kNotFound where
// there is no hierarchy or no such cgroup; the errors of open(2).
absl::StatusOr<UniqueFd> OpenCgroup(const procfs::Roots& roots, const std::string& name);

// By name an open cgroup, or none for an empty name. kInvalidArgument where one is named and not
// all CPUs are observed, for the kernel knows cgroups by what runs on a CPU; the errors of
// OpenCgroup.
absl::StatusOr<std::vector<UniqueFd>> OpenCgroups(const procfs::Roots& roots,
                                                  const std::vector<std::string>& names,
                                                  bool system_wide);

}  // namespace profiler::target
