// Lists the kernel's tracepoints, from tracefs.
//
//   /sys/kernel/tracing/events/sched/sched_switch/id       372     config of PERF_TYPE_TRACEPOINT
//   /sys/kernel/tracing/events/sched/sched_switch/format   fields of its records
//
// Only root may read them, unless tracefs is mounted with other permissions.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::events {

struct Tracepoint {
  std::string system;
  std::string name;
  uint64_t id = 0;

  std::string full_name() const { return system + ":" + name; }
};

// The directory of tracefs, and the command that lets this user read it.
struct TracingAccess {
  // /sys/kernel/tracing, /sys/kernel/debug/tracing, or the mount point in /proc/mounts. Empty if
  // tracefs is not mounted.
  std::string directory;
  int error = 0;        // an error number if this user may not read it
  std::string command;  // mounts it, or lets this user's group read it; empty if it can be read
};
TracingAccess FindTracing(const procfs::Roots& roots);

// Returns the directory of FindTracing. Errors: kNotFound if tracefs is not mounted,
// kPermissionDenied if this user may not read it. Both messages name a remedy.
absl::StatusOr<std::string> TracingDirectory(const procfs::Roots& roots);

// Returns the tracepoints whose system and name match these patterns (*, ?, […]), sorted by name.
// Errors: kNotFound if no tracepoint matches; those of TracingDirectory.
absl::StatusOr<std::vector<Tracepoint>> FindTracepoints(const procfs::Roots& roots,
                                                        const std::string& system,
                                                        const std::string& name);

// Returns the text of the tracepoint's format file.
absl::StatusOr<std::string> TracepointFormat(const procfs::Roots& roots,
                                             const Tracepoint& tracepoint);

// Returns OK if this filter ("prev_pid == 0 && …") compares only fields of the tracepoint. Error:
// kInvalidArgument names the first unknown field, and lists the fields. Only the kernel checks the
// syntax, because libtraceevent's parser of filters crashes on invalid ones (1.7.1).
absl::Status CheckFilter(const procfs::Roots& roots, const Tracepoint& tracepoint,
                         const std::string& filter);

}  // namespace profiler::events
