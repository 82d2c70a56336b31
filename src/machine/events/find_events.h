// Converts the events that a user typed after -e to attrs for perf_event_open(2), if this machine
// has them.
//
//   cycles            generic events; if the CPUs are of several kinds, once for each kind
//   mem-loads         a PMU's event name in sysfs
//   cpu/event=0x3c/   terms, encoded by the PMU's formats
//   sched:sched_*     tracepoints, from tracefs
//   /bin/x:main       uprobes, by the symbols of the file and its debug files
//   hotspot:gc__begin static probes (USDT) of running and installed programs, one event per place
//
// Opens no events. Only perf_event_open(2) shows whether the kernel counts an event, and for which
// users.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/format/perf_event/attr.h"
#include "src/machine/events/static_probes.h"
#include "src/machine/events/tracepoints.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::events {

// Terms of one event that concern its samples. If a term is absent, the setting for all events
// applies.
struct SampleTerms {
  std::optional<uint64_t> period;
  std::optional<uint64_t> frequency;
  std::optional<std::string> call_graph;  // "fp", "dwarf", "no"
  std::optional<uint64_t> stack_size;     // bytes
  std::optional<uint64_t> max_stack;      // frames
  // False for probes. For a new thread, the kernel opens inherited events again, with a copy of the
  // attr. It reads the path that config1 points to from the memory of the thread that forks
  // (perf_uprobe_init in kernel/trace/trace_event_perf.c, Linux 6.18), which has no such path. So
  // fork(2) and clone(2) fail with EFAULT; or, if that memory is mapped, with ENOENT, or another
  // file is probed.
  std::optional<bool> inherit;
};

struct FoundEvent {
  // Only these fields are set: type, config*, bp_*, exclude_*, precise_ip, pinned and exclusive.
  // config1 of a probe points into `probed`.
  perf_event::Attr attr;
  std::string name;
  // Index of the group's leader in the result of FindEvents. If this event is the leader, or is in
  // no group, its own index.
  size_t leader = 0;
  std::string group_name;
  bool sample_read = false;  // true with the modifier S (modifiers.h)
  bool weak = false;         // true with the modifier W
  SampleTerms terms;
  // True for tracepoints, breakpoints, probes and BPF output: each occurrence is sampled by
  // default.
  bool is_sampled_each_time = false;
  // True if the RAW field of samples has data of the event, as for tracepoints.
  bool has_raw_data = false;
  std::vector<int> cpus;  // CPUs that can count the event; empty: all
  std::string unit;       // unit of a count times `scale`; empty: none
  double scale = 1;
  std::optional<Tracepoint> tracepoint;
  std::string filter;  // filter of the tracepoint's records; set by the caller
  // Only threads of this cgroup count; empty: all. Set by the caller.
  std::string cgroup;
  bool is_user_return = false;  // true for a return probe in a program
  // The reason why this return probe may crash programs; empty if the probe is safe. Callers refuse
  // a dangerous probe unless the user insists.
  std::string danger;
  std::shared_ptr<const std::string> probed;  // a probe's path or kernel function

  bool is_probe() const { return probed != nullptr; }
};

// Returns at least one event. Errors:
//   kInvalidArgument  `text` cannot be parsed (ParseEventList), or a PMU lacks a term
//   kNotFound         this machine lacks an event; the message names a similar event, if any
// Tracepoints also fail with the errors of FindTracepoints, and uprobes with those of opening the
// probed file. `search` says where static probes without a path are searched.
absl::StatusOr<std::vector<FoundEvent>> FindEvents(const procfs::Roots& roots,
                                                   std::string_view text,
                                                   const ProbeSearch& search = {});

// Returns the warning for events that new threads and processes do not inherit although the user
// expects it; empty if there are none.
std::string NoteOnInheritance(const std::vector<FoundEvent>& events);

}  // namespace profiler::events
