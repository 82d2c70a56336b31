// Opens cgroups for perf_event_open(2). A cgroup is a folder in the hierarchy that perf events use.
//
// Perf events use a version 1 hierarchy with the controller perf_event if there is one, otherwise
// cgroup2, wherever it is mounted.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::target {

// Returns the mount point of the hierarchy that perf events use, from the text of
// /proc/self/mountinfo; empty if it is not mounted.
std::string CgroupMountPoint(std::string_view mountinfo);

// Opens the cgroup `name`, a path below the mount point; "/" stands for all cgroups. Errors:
// kNotFound if there is no hierarchy or no such cgroup; those of open(2).
absl::StatusOr<UniqueFd> OpenCgroup(const procfs::Roots& roots, const std::string& name);

// Opens the cgroup of each name; the descriptor of an empty name is invalid. Errors:
// kInvalidArgument if a cgroup is named but `system_wide` is false, because the kernel counts a
// cgroup per CPU, not per thread; those of OpenCgroup.
absl::StatusOr<std::vector<UniqueFd>> OpenCgroups(const procfs::Roots& roots,
                                                  const std::vector<std::string>& names,
                                                  bool system_wide);

// A cgroup, by the number that samples have, and its path below the mount point: "/", "/a/b".
struct CgroupPath {
  uint64_t id = 0;
  std::string path;
};

// Returns the cgroups of the hierarchy that perf events use, each behind the one above it; at most
// kMostCgroups, and none if the hierarchy is not mounted. Cost: two system calls per cgroup.
inline constexpr size_t kMostCgroups = 100'000;
std::vector<CgroupPath> ListCgroups(const procfs::Roots& roots);

}  // namespace profiler::target
