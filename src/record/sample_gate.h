// Attaches the programs of src/record/bpf to the events of a recording, and opens the events by which
// they write. All users of the programs share it (python/kernel_walker.h, stacks/kernel_follower.h).
//
// New threads inherit the programs of events that have them. So for commands and attached processes
// the gate is attached before sampling begins. Events of all threads inherit nothing; they get it
// when the first user needs it.

#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ringbuf/event_set.h"
#include "src/base/status.h"
#include "src/record/bpf/programs.h"

namespace profiler::record {

struct SampleGateOptions {
  // Events at which programs run, as indices of EventSetOptions::attrs: those whose stacks are
  // unwound, and context switches.
  std::vector<size_t> samples, switches;
  perf_event_attr output{};  // the event by which the programs write
  // Called with the ids of these events.
  std::function<void(uint64_t id)> on_output;
};

// The gate. Use it from one thread.
class SampleGate {
 public:
  // `events` must outlive this object.
  SampleGate(ringbuf::EventSet& events, SampleGateOptions options,
             std::unique_ptr<Programs> programs);

  // Attaches the gate now, once. Returns the error of the first call in later calls.
  absl::Status Attach();
  // Returns the events by which the programs write. Opens them once, after attaching the gate.
  absl::StatusOr<std::span<const Programs::Output>> Outputs();

  Programs& programs() { return *programs_; }

 private:
  absl::Status AttachNow();

  ringbuf::EventSet& events_;
  const SampleGateOptions options_;
  const std::unique_ptr<Programs> programs_;
  bool is_attached_ = false, is_open_ = false;
  absl::Status failure_;
  std::vector<Programs::Output> outputs_;
};

}  // namespace profiler::record
