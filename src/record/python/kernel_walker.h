// Lets the kernel walk Python's frames at each sample of a recording's events. Loads and attaches
// the programs, and says what prevents it.
//
// New threads inherit the programs of events that have them. So for commands and attached processes
// the gate is attached before sampling begins. Events of all threads inherit nothing; they get it
// when the first interpreter is met.

#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ringbuf/event_set.h"
#include "src/base/status.h"
#include "src/record/bpf/programs.h"
#include "src/record/python/processes.h"

namespace profiler::record::python {

struct KernelWalkerOptions {
  std::vector<size_t> attrs;  // the events to walk at, as indices of EventSetOptions::attrs
  perf_event_attr output{};   // the event by which the kernel writes the frames
  // Called with the ids of these events.
  std::function<void(uint64_t id)> on_output;
  bool is_root = false;         // procfs::IsRoot
  bool may_load = false;        // True if this program has CAP_BPF and CAP_PERFMON, without root.
  bool is_locked_down = false;  // True if lockdown forbids programs that read memory.
};

class KernelWalker final : public Walker {
 public:
  // `events` must outlive this object.
  KernelWalker(ringbuf::EventSet& events, KernelWalkerOptions options,
               std::unique_ptr<Programs> programs);

  // Attaches the gate now. Does nothing after an error, or if it is attached already.
  void Attach();

  void Prepare() override;
  bool Walk(uint32_t pid, const symbolize::python::WalkLayout& layout,
            uint32_t generation) override;
  void Leave(uint32_t pid) override;

  // Returns why the frames of an interpreter that was met are not walked, as a line for the user;
  // empty if they are, or if none was met.
  std::string Problem() const;

 private:
  absl::Status AttachGate();
  absl::Status LoadWalk();

  ringbuf::EventSet& events_;
  const KernelWalkerOptions options_;
  const std::unique_ptr<Programs> programs_;
  bool is_attached_ = false, is_walking_ = false;
  bool was_met_ = false;  // True if an interpreter was met.
  absl::Status failure_;
};

}  // namespace profiler::record::python
