// Drives the off-CPU part of a recording: begins and pauses the counting of times, reads the stacks
// of waiting threads at intervals, and samples fewer context switches if there are many.

#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "ringbuf/drain_loop.h"
#include "src/base/status.h"
#include "src/machine/procfs/proc_file.h"
#include "src/record/off_cpu_stage.h"
#include "src/record/options.h"
#include "src/record/session_setup.h"
#include "src/record/thread_states.h"

namespace profiler::record {

// The driver of setup.unwinding->off_cpu(), which must not be null. Use it only in the thread that
// runs the io_context.
class OffCpuDriver {
 public:
  // All arguments must outlive this object.
  OffCpuDriver(boost::asio::io_context& io, const procfs::Roots& roots, SessionSetup& setup);

  // Returns the index in setup.events of the event that samples context switches now; nullopt if
  // the kernel does not let us sample them.
  std::optional<size_t> switches_attr() const;

  // Begins the counting of times, or goes on after Pause.
  void Begin();
  // Does nothing if times are not being counted.
  void Pause();

  // Reads the stacks of waiting threads in the first turn of the io_context, and from then on at
  // intervals, each time after a pass of `drain`, which must outlive this object. Calls `on_error`
  // and ends the reading if a pass fails.
  void ReadWaitingStacks(ringbuf::DrainLoop& drain,
                         std::function<void(const absl::Status&)> on_error);

  // Adapts the sampling of context switches to their rate. Call it after each pass. Errors: those
  // of EventSet::Enable and Disable.
  absl::Status AdaptToSwitches();

  // Ends the counting: threads off the CPU count as waiting until now. Afterwards
  // setup.unwinding->output() has their samples.
  void End();
  // Returns how the threads spent the recording. Call it after End. Takes a while, because it names
  // the system calls.
  ThreadStates SumStates() const;

 private:
  OffCpuStage& stage() const { return *setup_.unwinding->off_cpu(); }
  bool samples_switches() const { return !setup_.plan.off_cpu->switches.empty(); }
  // Returns the index in setup.events of the event of kSwitchSampling[which].
  size_t SwitchesAttr(size_t which) const { return 1 + setup_.plan.sampling.size() + which; }
  uint64_t Now() const { return setup_.events->MonotonicNow(); }
  void FindWaiting() const;
  void ScheduleReading(std::chrono::milliseconds after);

  const procfs::Roots& roots_;
  SessionSetup& setup_;
  boost::asio::steady_timer timer_;  // for the next reading of stacks
  ringbuf::DrainLoop* drain_ = nullptr;
  std::function<void(const absl::Status&)> on_error_;
  size_t switches_ = 0;      // index of the enabled event in kSwitchSampling
  uint64_t last_many_ = 0;   // last time at which switches were too many for a smaller period
  RunDelays run_delays_;     // run delays when sampling began, plus the delays during pauses
  RunDelays paused_delays_;  // run delays when the last pause began
};

}  // namespace profiler::record
