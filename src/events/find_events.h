// What was typed after -e, found on this machine: attrs for perf_event_open(2).
//
//   cycles            the generic events; on CPUs of several kinds once for each kind
//   mem-loads         a name that a PMU has in sysfs
//   cpu/event=0x3c/   terms, placed as the PMU's formats say
//   sched:sched_*     tracepoints, by tracefs
//   /bin/x:main       uprobes, by the symbols of the file and its debug files
//
// Nothing is opened here: whether the kernel counts an event, and for whom, it says when asked.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/events/tracepoints.h"
#include "src/perf_event/attr.h"
#include "src/procfs/proc_file.h"

namespace profiler::events {

// What the terms of one event ask for of its samples; absent: as for all events.
struct SampleTerms {
  std::optional<uint64_t> period;
  std::optional<uint64_t> frequency;
  std::optional<std::string> call_graph;  // "fp", "dwarf", "no"
  std::optional<uint64_t> stack_size;     // bytes
  std::optional<uint64_t> max_stack;      // frames
  std::optional<bool> inherit;
};

struct FoundEvent {
  // type, config*, bp_*, exclude_*, precise_ip, pinned and exclusive. config1 of a probe points
  // into `probed`.
  perf_event::Attr attr;
  std::string name;
  size_t leader = 0;  // of its group, in the list: its own place where it is alone or the leader
  std::string group_name;
  bool sample_read = false;  // ":S"
  bool weak = false;         // ":W"
  SampleTerms terms;
  // Of tracepoints, breakpoints, probes and what BPF programs put out: each one is sampled where
  // nothing else is asked for.
  bool is_sampled_each_time = false;
  bool has_raw_data = false;  // as tracepoints: what a sample is about is in its RAW
  std::vector<int> cpus;      // on which it can be counted; empty: on all
  std::string unit;           // of a count times `scale`; empty: it is a mere number
  double scale = 1;
  std::optional<Tracepoint> tracepoint;
  std::string filter;           // of the tracepoint's records; set by whoever was given one
  std::string cgroup;           // whose threads alone count; empty: all; set likewise
  bool is_user_return = false;  // a probe at the return from a function of a program
  // Why such a probe may end the programs that it is put into, to be refused unless the user knows
  // better; empty: it does not.
  std::string danger;
  std::shared_ptr<const std::string> probed;  // a probe's path or kernel function
};

// At least one. Errors: kInvalidArgument as ParseEventList's, and for terms that the event's PMU
// does not have; kNotFound for events that this machine does not have, with the nearest name where
// one is near; those of FindTracepoints; for uprobes those of opening the file.
absl::StatusOr<std::vector<FoundEvent>> FindEvents(const procfs::Roots& roots,
                                                   std::string_view text);

}  // namespace profiler::events
