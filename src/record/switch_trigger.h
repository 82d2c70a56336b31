// Triggers the switch to the next file when SIGUSR2 arrives or a time is over. (The session
// triggers the switch when the file has reached a size.)

#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <optional>

#include "src/base/status.h"
#include "src/machine/target/blocked_signals.h"
#include "src/record/options.h"

namespace profiler::record {

// The trigger. Use it from the thread of the io_context.
class SwitchTrigger {
 public:
  // `io` must outlive this object. `on_switch` is called from the io_context.
  SwitchTrigger(boost::asio::io_context& io, const SwitchOutput& options,
                std::function<void()> on_switch);
  // Gives SIGUSR2 its former effect, and drops SIGUSR2 signals that are still pending.
  ~SwitchTrigger();

  // Keeps SIGUSR2 from ending the process, as in perf. Call it also if only time or size triggers
  // switches. Errors: those of signalfd(2).
  absl::Status WatchSignal();
  // Starts the timer for switches by time.
  void StartTime();
  // Makes no further calls of `on_switch`.
  void Stop();

 private:
  void AwaitSignal();
  void AwaitTime(std::chrono::steady_clock::time_point after);

  const SwitchOutput options_;
  const std::function<void()> on_switch_;
  std::optional<target::BlockedSignals> signals_;
  boost::asio::posix::stream_descriptor descriptor_;
  boost::asio::steady_timer timer_;
};

}  // namespace profiler::record
