// The loop of a thread that pushes: runs the steps of a delivery when they are due.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "src/base/status.h"
#include "src/fleet/push/segment_delivery.h"

namespace profiler::fleet {

class PushLoop {
 public:
  struct Options {
    // True to go on after all segments are sent, and look for new ones every `look_every`.
    bool follow = false;
    std::chrono::nanoseconds look_every = std::chrono::seconds(5);
    // Ends the loop after this many failures of a batch in a row; 0: no limit.
    uint64_t most_failures = 0;
    // Called with an error of the directory or the journal. Then the step is repeated `look_every`
    // later. If the function is empty, an error of the directory or the journal ends the loop.
    std::function<void(const absl::Status&)> on_error = nullptr;
  };

  explicit PushLoop(Options options) : options_(std::move(options)) {}

  // Runs a delivery until all segments are sent, or until Stop. Several threads may run a delivery
  // each. Returns kUnavailable after Options::most_failures failures. Other errors: see
  // Options::on_error.
  absl::Status Run(SegmentDelivery& delivery);

  // Ends Run once the current request is answered. Later calls of Run end at once. Thread-safe.
  void Stop();

 private:
  // Waits. Returns false if the loop is stopped.
  bool Sleep(std::chrono::nanoseconds time);

  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopped_ = false;
};

}  // namespace profiler::fleet
