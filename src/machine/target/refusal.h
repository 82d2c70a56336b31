// Explains why the kernel refuses to observe a target, and names a remedy.

#pragma once

#include <sys/types.h>

#include <string>

#include "src/base/status.h"
#include "src/machine/procfs/machine.h"

namespace profiler::target {

// Classify the errno of perf_event_open(2): missing permission, or an event that this machine or
// kernel lacks.
bool IsRefusal(int error);
bool IsMissing(int error);

struct RefusedTarget {
  bool system_wide = false;
  pid_t other_process = 0;  // a process that was running already; 0: our own command
};

// Returns the status for EACCES or EPERM from perf_event_open(2), with its remedy. `doing` is
// "recording" or "counting". Source: perf_allow_* and __ptrace_may_access of Linux 6.18.
absl::Status ExplainRefusal(int error, const std::string& doing, const std::string& event,
                            const RefusedTarget& target, const procfs::PerfLimits& limits);

// Returns the value of a sysctl as " (now 2)"; empty if the value is unknown.
std::string NowIs(const std::optional<int64_t>& sysctl);

}  // namespace profiler::target
