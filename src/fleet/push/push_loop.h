// Takes the steps of a delivery when it is time for them: the thread that pushes.

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
    // Whether to go on when all is sent, and look for new segments every `look_every`.
    bool follow = false;
    std::chrono::nanoseconds look_every = std::chrono::seconds(5);
    // Ends when a batch has failed so often in a row; 0: never.
    uint64_t most_failures = 0;
    // What is done about an error of the directory or the journal, after which the step is taken
    // again `look_every` later. Without it, the error ends the loop.
    std::function<void(const absl::Status&)> on_error = nullptr;
  };

  explicit PushLoop(Options options) : options_(std::move(options)) {}

  // Blocks until all is sent, or Stop. One delivery a call; several threads may each have one.
  // Errors: kUnavailable when it has failed too often; others: see Options::on_error.
  absl::Status Run(SegmentDelivery& delivery);

  // Ends Run when the request that it is at has been answered. Thread-safe; for good.
  void Stop();

 private:
  // False when it is stopped.
  bool Sleep(std::chrono::nanoseconds time);

  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopped_ = false;
};

}  // namespace profiler::fleet
