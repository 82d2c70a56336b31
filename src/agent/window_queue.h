// Recordings that wait to be named, on a thread of its own, while the next one is recorded.

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "src/agent/window_namer.h"

namespace profiler::agent {

// The thread gives way to others (nice 5) and gets no signals that were blocked when this was made.
// Thread-safe, but for the destructor.
class WindowQueue {
 public:
  // `take` is called on that thread, with one after the other.
  explicit WindowQueue(std::function<void(FinishedRecording)> take, size_t most_waiting = 2);
  // Names what still waits.
  ~WindowQueue();

  // Returns at once. False where too many wait, and the recording goes: it is memory that nobody
  // bounds else.
  bool Add(FinishedRecording recording);
  // All that was added is taken, when this returns, and nothing more may be added.
  void Finish();

 private:
  void Run();

  const std::function<void(FinishedRecording)> take_;
  const size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Under mutex_.
  std::deque<FinishedRecording> waiting_;
  bool is_closed_ = false;
  std::thread thread_;
};

}  // namespace profiler::agent
