// Triggers the switch to the next file when SIGUSR2 arrives or a time is over, and finds the
// samples that trigger it. (The session triggers the switch when the file has reached a size.)

#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "ringbuf/record_cursor.h"
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

// Finds samples of the events that switch files (SwitchOutput::events). Use it from one thread.
class SwitchSamples {
 public:
  // `ids` are the ids of these events.
  explicit SwitchSamples(std::vector<uint64_t> ids) : ids_(ids.begin(), ids.end()) {}

  // Looks at whole records.
  void Take(const ringbuf::RingBytes& bytes);
  // Returns true if there was such a sample since the previous call.
  bool HaveCome() { return std::exchange(have_come_, false); }

 private:
  const absl::flat_hash_set<uint64_t> ids_;
  bool have_come_ = false;
  std::unique_ptr<ringbuf::BounceBuffer> bounce_ = std::make_unique<ringbuf::BounceBuffer>();
};

}  // namespace profiler::record
