// A queue of bytes between two threads, with a limit.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

namespace profiler::live {

// Thread-safe.
class ByteQueue {
 public:
  explicit ByteQueue(size_t most) : most_(most) {}

  // Adds bytes. Waits while the queue has more than `most` bytes, unless it is closed.
  void Push(std::span<const std::span<const std::byte>> pieces);
  // No bytes follow. Wakes up both sides.
  void Close();
  // Swaps the waiting bytes into `*bytes`. Waits for some until `until`. Returns false if the queue
  // is closed and empty.
  bool Pop(std::vector<std::byte>* bytes, std::chrono::steady_clock::time_point until);
  bool empty() const;

 private:
  const size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable filled_, emptied_;
  // mutex_ guards the members below.
  std::vector<std::byte> waiting_;
  bool is_closed_ = false;
};

}  // namespace profiler::live
