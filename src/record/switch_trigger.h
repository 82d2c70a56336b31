// Tells when the file at hand is to be complete: by SIGUSR2 and by time. (By size is for whoever
// writes it.)

#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <optional>

#include "src/base/status.h"
#include "src/record/options.h"
#include "src/target/blocked_signals.h"

namespace profiler::record {

// One thread: that of the io_context.
class SwitchTrigger {
 public:
  // `io` must outlive it. Calls `on_switch` from the io_context.
  SwitchTrigger(boost::asio::io_context& io, const SwitchOutput& options,
                std::function<void()> on_switch);
  // SIGUSR2 has its former effect again; what came until now has none.
  ~SwitchTrigger();

  // From here on SIGUSR2 does not end the process, as with perf: neither where time or size decide.
  // Errors: those of signalfd(2).
  absl::Status WatchSignal();
  // Time counts from now on.
  void StartTime();
  // No further calls.
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
