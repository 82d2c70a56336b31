// The kernel's tracepoints, as tracefs lists them.
//
//   /sys/kernel/tracing/events/sched/sched_switch/id       372     config of PERF_TYPE_TRACEPOINT
//   /sys/kernel/tracing/events/sched/sched_switch/format   the fields of its records
//
// Only root may read them, unless tracefs was mounted otherwise.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/procfs/proc_file.h"

namespace profiler::events {

struct Tracepoint {
  std::string system;
  std::string name;
  uint64_t id = 0;

  std::string full_name() const { return system + ":" + name; }
};

// Where tracefs is mounted: /sys/kernel/tracing, below debugfs, or where /proc/mounts says. Errors,
// each with its remedy: kNotFound where it is mounted nowhere, kPermissionDenied where this user
// may not read it.
absl::StatusOr<std::string> TracingDirectory(const procfs::Roots& roots);

// Those whose system and name fit these patterns (*, ?, […]), by name. kNotFound where none does;
// the errors of TracingDirectory.
absl::StatusOr<std::vector<Tracepoint>> FindTracepoints(const procfs::Roots& roots,
                                                        const std::string& system,
                                                        const std::string& name);

// The text of its format file.
absl::StatusOr<std::string> TracepointFormat(const procfs::Roots& roots,
                                             const Tracepoint& tracepoint);

// Whether all that this filter of the tracepoint's records ("prev_pid == 0 && …") compares are
// fields of it; kInvalidArgument names the first that is none, and those that there are. Its syntax
// is the kernel's to judge: libtraceevent's parser of filters crashes on wrong ones (1.7.1).
absl::Status CheckFilter(const procfs::Roots& roots, const Tracepoint& tracepoint,
                         const std::string& filter);

}  // namespace profiler::events
