// Sets up everything that a recording needs before sampling begins, in the required order.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ringbuf/event_set.h"
#include "ringbuf/kernel.h"
#include "src/base/status.h"
#include "src/machine/target/child_command.h"
#include "src/machine/target/control.h"
#include "src/machine/target/targets.h"
#include "src/record/event_plan.h"
#include "src/record/options.h"
#include "src/record/python/kernel_walker.h"
#include "src/record/record_tally.h"
#include "src/record/recording_file.h"
#include "src/record/sample_gate.h"
#include "src/record/stacks/kernel_follower.h"
#include "src/record/unwind_stage.h"
#include "symbolize/symbols/kernel_symbols.h"

namespace profiler::record {

// Ids of the two events made from context switches. The ids that the kernel gives to events count
// up from 1.
inline constexpr uint64_t kBlockedId = uint64_t{1} << 62, kPreemptedId = kBlockedId + 1;

struct SessionSetup {
  std::unique_ptr<target::Command> command;  // waits for its start; null without a command
  // True if the command's own process is the only target.
  bool records_command = false;
  // True if the command's exec starts sampling and the counting of times off the CPU.
  bool begins_with_exec = false;
  EventPlan plan;
  std::unique_ptr<target::Control> control;  // null without RecordOptions::control
  // Attr 0 is the sideband. The sampling events follow, then the context switches of --off-cpu.
  // Sampling is disabled.
  std::unique_ptr<ringbuf::EventSet> events;
  std::unique_ptr<RecordingFacts> facts;
  // Begins with the records of what already runs. Null with RecordOptions::flight.
  std::unique_ptr<RecordingFile> file;
  std::vector<std::byte> what_runs;    // with RecordOptions::flight: these records
  std::unique_ptr<RecordTally> tally;  // has also taken the records of what already runs
  // Has also taken the records of what already runs. Null if records are written unchanged. Always set
  // with --off-cpu, even if the kernel makes the call chains.
  std::unique_ptr<UnwindStage> unwinding;
  // The programs in the kernel, and their users, which serve `unwinding`. Null if there are none.
  // They end before `events`.
  std::unique_ptr<SampleGate> gate;
  std::unique_ptr<python::KernelWalker> python;
  std::unique_ptr<KernelFollower> stacks;
  // The kernel's symbols, for --off-cpu; read once, in some 100 ms. Empty if kernel addresses are
  // hidden, or if no sample is taken in the kernel.
  symbolize::KernelSymbols kernel;
  std::string call_graph;  // the choice of `auto` and its reason, for the summary
  // The targeted threads, and the threads of the targeted processes, that existed before the
  // set-up.
  std::vector<target::Thread> threads;
  std::vector<std::string> notes;

  // Returns the ids that samples of an event have; `event` is its index in RecordOptions::events.
  std::vector<uint64_t> IdsOf(size_t event) const;
};

// Sets up a recording. Errors: those of RecordSession::Create.
absl::StatusOr<SessionSetup> SetUp(ringbuf::Kernel& kernel, const RecordOptions& options);

}  // namespace profiler::record
