// Turns the requested events into attrs that this kernel permits.
//
// The kernel's version is not consulted. Instead, each attr is tried: opened once, on the first
// target, and closed again.

#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ringbuf/kernel.h"
#include "src/base/status.h"
#include "src/format/perf_event/attr.h"
#include "src/machine/procfs/machine.h"
#include "src/record/options.h"

namespace profiler::record {

// One event, with the attr that is opened and the attr that the file describes. They differ if
// samples are unwound while recording: the file's samples have neither registers nor stack bytes.
struct PlannedEvent {
  perf_event::Attr attr;
  perf_event::Attr written;
  std::string name;
  // Index of the group's leader in EventPlan::sampling; the event's own index outside a group.
  size_t leader = 0;
  std::string group_name;
  std::vector<int> cpus;        // CPUs that count the event; empty: all CPUs
  std::string filter;           // condition on the records of a tracepoint; empty: all records
  std::string cgroup;           // samples only threads of this cgroup; empty: all threads
  bool is_user_return = false;  // True for a return probe.
};

// The events that sample context switches with --off-cpu: one for each entry of kSwitchSampling.
// Only one of these events is enabled at a time.
struct OffCpuPlan {
  // Empty if the kernel does not let us sample them, because context switches are kernel code.
  std::vector<PlannedEvent> switches;
  perf_event::Attr written;  // attr of the samples that the stage makes (off_cpu_stage.h)
};

// Above `above` switches per second on a CPU, every `period`-th switch of each thread is sampled.
// The kernel's own frequency mode is not used. It raises the period after any two switches in a
// row. It lowers the period only at timer ticks while the thread runs. The periods here are primes,
// so that each wait is sampled in turn if a thread alternates between several waits.
struct SwitchSampling {
  uint64_t above = 0;
  uint64_t period = 1;
};
inline constexpr std::array<SwitchSampling, 3> kSwitchSampling = {
    {{0, 1}, {5'000, 11}, {50'000, 101}}};

struct EventPlan {
  // A dummy software event. It counts nothing and carries MMAP2, COMM, FORK, EXIT and similar
  // records, so that these arrive while sampling is still disabled. Opened enabled.
  PlannedEvent sideband;
  // The events that take samples. Opened disabled.
  std::vector<PlannedEvent> sampling;
  std::optional<OffCpuPlan> off_cpu;
  // The companions of the return probes among `sampling` (return_probes.h). Opened enabled.
  std::vector<perf_event::Attr> companions;
  bool unwinds = false;  // True if we make the call chains, from registers and stack bytes.
  // True if samples may have kernel addresses.
  bool kernel_samples = false;
  std::vector<std::string> notes;
};

// The thread or CPU on which the attrs are tried.
struct ProbeTarget {
  pid_t pid = 0;  // a thread; 0: the calling one; −1: all threads, on `cpu`
  int cpu = 0;
  bool enable_on_exec = false;  // True if the target is a command that waits for its exec.
};

// Plans the events of a recording. Replaces events that the machine lacks or forbids, and adds a
// note for each. `cycles` becomes cpu-clock without hardware counters; that is noted only if the
// user named the event. Events of kernel and user become user-only if the kernel may not be
// sampled. A frequency over the limit is clamped. `options.call_graph` must not be kAuto.
//
// Returns kInvalidArgument or kNotFound if this machine does not have an event. Returns
// kPermissionDenied, with the sysctl that would permit it, if an event is forbidden. Returns
// kNotFound (ESRCH) if the target has ended.
absl::StatusOr<EventPlan> PlanEvents(ringbuf::Kernel& kernel, const RecordOptions& options,
                                     const procfs::PerfLimits& limits, const ProbeTarget& target);

}  // namespace profiler::record
