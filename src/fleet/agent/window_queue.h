// A queue of recordings that its own thread names while the next one is recorded.

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "src/fleet/agent/window_namer.h"

namespace profiler::agent {

// The queue and its thread, which yields to others (nice 5) and blocks the signals that were
// blocked when the queue was made. Thread-safe, except the destructor.
class WindowQueue {
 public:
  // Calls `take` on that thread, with one recording after the other.
  explicit WindowQueue(std::function<void(FinishedRecording)> take, size_t most_waiting = 2);
  // Waits until all recordings are taken.
  ~WindowQueue();

  // Returns at once. Returns false and drops the recording if too many wait: recordings are in
  // memory, which nothing else bounds.
  bool Add(FinishedRecording recording);
  // Waits until all recordings are taken; none may be added afterwards.
  void Finish();

 private:
  void Run();

  const std::function<void(FinishedRecording)> take_;
  const size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Both below: under mutex_.
  std::deque<FinishedRecording> waiting_;
  bool is_closed_ = false;
  std::thread thread_;
};

}  // namespace profiler::agent
