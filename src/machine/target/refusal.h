// Explains why the kernel refuses to observe a target, and names remedies.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/machine/procfs/machine.h"

namespace profiler::target {

// Classify the errno of perf_event_open(2): missing permission, or an event that this machine or
// kernel lacks.
bool IsRefusal(int error);
bool IsMissing(int error);

// The facts about this process and this machine that decide whether perf_event_open(2) is
// permitted.
struct PerfRights {
  procfs::PerfLimits limits;
  uint64_t capabilities = 0;  // permitted capabilities (procfs::PermittedCapabilities)
  bool is_root = false;       // procfs::IsRoot; root in a container may lack capabilities
  // True if this process is in a user namespace of its own, as in a rootless container. The kernel
  // then ignores its capabilities for events.
  bool in_user_namespace = false;
  // True if a system call filter answers instead of the kernel (ringbuf::Kernel::IsCallFiltered).
  bool is_filtered = false;
};
PerfRights ReadPerfRights(const procfs::Roots& roots, bool is_filtered);

// A way to lift a limit.
struct Remedy {
  std::string text;     // a phrase that begins with a verb: "run as root"
  std::string command;  // a shell command that does it; empty: there is none
  std::string risk;     // how it weakens the machine, a sentence; empty: it does not
};

struct RefusedTarget {
  bool system_wide = false;
  pid_t other_process = 0;  // a process that was running already; 0: our own command
};

// The cause of EACCES or EPERM from perf_event_open(2). `remedies` begin with the narrowest one.
struct Refusal {
  std::string cause;  // a clause: "a system call filter denies perf_event_open"; may be empty
  std::vector<Remedy> remedies;
};

// Finds the cause. Source: perf_event_open, perf_allow_* and __ptrace_may_access of Linux 6.18, and
// Debian's patch for kernel.perf_event_paranoid=3.
Refusal FindRefusal(const RefusedTarget& target, const PerfRights& rights);

// Returns the status for EACCES or EPERM, with its cause and remedies. `doing` is "recording" or
// "counting".
absl::Status ExplainRefusal(int error, const std::string& doing, const std::string& event,
                            const RefusedTarget& target, const PerfRights& rights);

// Returns the remedy for a missing capability, such as "PERFMON": to run as root, or to give it to
// root.
Remedy MoreRights(const PerfRights& rights, const std::string& capability);

// Returns the value of a sysctl as " (now 2)"; empty if the value is unknown.
std::string NowIs(const std::optional<int64_t>& sysctl);

}  // namespace profiler::target
