// Which attrs a recording opens: what was asked for, made into what this kernel permits.
//
// Nothing is guessed from versions: each attr is opened once, on the first target, and closed
// again.

#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ringbuf/kernel.h"
#include "src/base/status.h"
#include "src/perf_event/attr.h"
#include "src/procfs/machine.h"
#include "src/record/options.h"

namespace profiler::record {

// One event: as it is opened, and as the file says that it was. They differ where samples are
// unwound on their way: the file's have neither registers nor stack bytes.
struct PlannedEvent {
  perf_event::Attr attr;
  perf_event::Attr written;
  std::string name;
  size_t leader = 0;  // of its group, in EventPlan::sampling; its own place where it is alone
  std::string group_name;
  std::vector<int> cpus;        // on which it is counted; empty: on all
  std::string filter;           // of a tracepoint's records
  std::string cgroup;           // whose threads alone are sampled; empty: all
  bool is_user_return = false;  // a return probe
};

// The context switches of a recording with --off-cpu: one event for each of kSwitchSampling, of
// which one is on at a time.
struct OffCpuPlan {
  // Empty where the kernel does not let us sample them, being kernel code.
  std::vector<PlannedEvent> switches;
  perf_event::Attr written;  // of the samples that come of it
};

// Where a CPU has more than so many switches a second, one in `period` of each thread is sampled.
// (The kernel's own way to keep a frequency has no use here: it raises the period with any two
// switches in a row, and lowers it only while the thread runs for ticks.) Primes, so that the turns
// of a thread that waits here and there by turns all come up.
struct SwitchSampling {
  uint64_t above = 0;
  uint64_t period = 1;
};
inline constexpr std::array<SwitchSampling, 3> kSwitchSampling = {
    {{0, 1}, {5'000, 11}, {50'000, 101}}};

struct EventPlan {
  // A dummy software event: it counts nothing and carries MMAP2, COMM, FORK, EXIT and the like, so
  // that these come while sampling is still off. Opened enabled.
  PlannedEvent sideband;
  // Opened disabled.
  std::vector<PlannedEvent> sampling;
  std::optional<OffCpuPlan> off_cpu;
  // The companions of the return probes among `sampling` (return_probes.h). Opened enabled.
  std::vector<perf_event::Attr> companions;
  bool unwinds = false;  // call chains are made by us, of registers and stack bytes
  // Kernel addresses may turn up in samples.
  bool kernel_samples = false;
  std::vector<std::string> notes;
};

// Where the attrs are tried.
struct ProbeTarget {
  pid_t pid = 0;  // a thread; 0: this one; −1: all, on `cpu`
  int cpu = 0;
  bool enable_on_exec = false;  // the target is a command that waits for its exec
};

// `cycles` becomes cpu-clock where there are no hardware counters; events of kernel and user become
// user only where the kernel may not be sampled; a frequency over the limit is clamped: each with a
// note (of cpu-clock only where the event was asked for). Errors:
// kInvalidArgument or kNotFound for an event that this machine has not, kPermissionDenied with the
// sysctl that would permit it, kNotFound (ESRCH) for a dead target. `options.call_graph` is not
// kAuto.
absl::StatusOr<EventPlan> PlanEvents(ringbuf::Kernel& kernel, const RecordOptions& options,
                                     const procfs::PerfLimits& limits, const ProbeTarget& target);

}  // namespace profiler::record
