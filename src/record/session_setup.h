// Everything that has to be there before sampling begins, in the order in which it must come about.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ringbuf/event_set.h"
#include "ringbuf/kernel.h"
#include "src/base/status.h"
#include "src/record/event_plan.h"
#include "src/record/options.h"
#include "src/record/record_tally.h"
#include "src/record/recording_file.h"
#include "src/record/unwind_stage.h"
#include "src/target/command.h"
#include "src/target/control.h"
#include "src/target/targets.h"
#include "symbolize/symbols/kernel_symbols.h"

namespace profiler::record {

struct SessionSetup {
  std::unique_ptr<target::Command> command;  // waits; null without one
  // The command's own process is what is recorded.
  bool records_command = false;
  bool begins_with_exec = false;  // of the command: sampling, and times off the CPU
  EventPlan plan;
  std::unique_ptr<target::Control> control;  // null without one
  // Attr 0 is the sideband, the sampling events follow, and then the context switches of --off-cpu.
  // Sampling is off.
  std::unique_ptr<ringbuf::EventSet> events;
  std::unique_ptr<RecordingFacts> facts;
  std::unique_ptr<RecordingFile> file;  // with what already runs in front
  std::unique_ptr<RecordTally> tally;   // has seen that too
  // Likewise; null where records are written as they are. With --off-cpu there is one, whoever
  // unwinds.
  std::unique_ptr<UnwindStage> unwinding;
  // Of --off-cpu: read once, which takes some 100 ms. Empty where their addresses are hidden, and
  // where no sample is of the kernel.
  symbolize::KernelSymbols kernel;
  std::string call_graph;               // how `auto` was decided, for the summary
  std::vector<target::Thread> threads;  // that were there, of processes and threads named
  std::vector<std::string> notes;
};

// Errors as RecordSession::Create has them.
absl::StatusOr<SessionSetup> SetUp(ringbuf::Kernel& kernel, const RecordOptions& options);

}  // namespace profiler::record
