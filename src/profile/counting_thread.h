// A thread that takes batches of samples (StackCounter) while the caller makes the next ones.
//
// Private to this package.

#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

#include "src/profile/chain_batch.h"
#include "src/profile/stack_counter.h"

namespace profiler::profile {

// A queue of a few batches, and its thread, which blocks all signals. All calls must come from one
// other thread. `counter` must outlive this object; only the thread uses it, except after Wait. The
// threads take a lock once for each batch.
class CountingThread {
 public:
  explicit CountingThread(StackCounter& counter) : counter_(counter) {}
  CountingThread(const CountingThread&) = delete;
  CountingThread& operator=(const CountingThread&) = delete;
  // Leaves batches that still wait.
  ~CountingThread();

  // Passes a batch on, and leaves an empty one. Waits while the queue is full.
  void Pass(ChainBatch& batch);

  // Waits until all batches are taken.
  void Wait();

 private:
  void Start();
  void Run();

  static constexpr size_t kMostWaiting = 4;

  StackCounter& counter_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // mutex_ guards all members below, except that the thread takes batches_[next_] without it.
  std::array<ChainBatch, kMostWaiting> batches_;
  size_t next_ = 0;
  size_t waiting_ = 0;  // batches_[next_] and the following ones, in a circle
  bool is_closed_ = false;
};

}  // namespace profiler::profile
