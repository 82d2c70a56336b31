// A queue of recordings that its own thread names while the next one is recorded.

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "src/fleet/agent/window_namer.h"

namespace profiler::agent {

// The queue and its thread. The thread has a lower priority (nice 5), and blocks the signals that
// were blocked when the queue was made. Thread-safe, except the destructor.
class WindowQueue {
 public:
  // Starts the thread, which calls `take` with one recording after the other.
  explicit WindowQueue(std::function<void(FinishedRecording)> take, size_t most_waiting = 2);
  // Waits until all recordings are taken.
  ~WindowQueue();

  // Adds a recording and returns at once. If too many recordings wait, drops it and returns false.
  // This bounds the memory for waiting recordings.
  bool Add(FinishedRecording recording);
  // Waits until all recordings are taken; none may be added afterwards.
  void Finish();

 private:
  void Run();

  const std::function<void(FinishedRecording)> take_;
  const size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // mutex_ guards the two members below.
  std::deque<FinishedRecording> waiting_;
  bool is_closed_ = false;
  std::thread thread_;
};

}  // namespace profiler::agent
