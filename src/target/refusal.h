// Why the kernel does not observe a target, and what would lift that.

#pragma once

#include <sys/types.h>

#include <string>

#include "src/base/status.h"
#include "src/procfs/machine.h"

namespace profiler::target {

// What errno says where perf_event_open(2) fails: one may not, or this machine or kernel has no
// such event.
bool IsRefusal(int error);
bool IsMissing(int error);

struct RefusedTarget {
  bool system_wide = false;
  pid_t other_process = 0;  // that already runs; 0: our own command
};

// The status for EACCES or EPERM from perf_event_open(2), with its remedy. `doing` is "recording"
// or "counting". Source: perf_allow_* and __ptrace_may_access of Linux 6.18.
absl::Status ExplainRefusal(int error, const std::string& doing, const std::string& event,
                            const RefusedTarget& target, const procfs::PerfLimits& limits);

// " (now 2)", or nothing where it is not known.
std::string NowIs(const std::optional<int64_t>& sysctl);

}  // namespace profiler::target
