#include "src/live/byte_queue.h"

namespace profiler::live {

void ByteQueue::Push(std::span<const std::span<const std::byte>> pieces) {
  std::unique_lock lock(mutex_);
  emptied_.wait(lock, [this] { return waiting_.size() <= most_ || is_closed_; });
  for (const std::span<const std::byte> piece : pieces) {
    waiting_.insert(waiting_.end(), piece.begin(), piece.end());
  }
  filled_.notify_one();
}

void ByteQueue::Close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  filled_.notify_all();
  emptied_.notify_all();
}

bool ByteQueue::Pop(std::vector<std::byte>* bytes, std::chrono::steady_clock::time_point until) {
  bytes->clear();
  std::unique_lock lock(mutex_);
  filled_.wait_until(lock, until, [this] { return !waiting_.empty() || is_closed_; });
  waiting_.swap(*bytes);
  emptied_.notify_one();
  return !bytes->empty() || !is_closed_;
}

bool ByteQueue::empty() const {
  const std::lock_guard lock(mutex_);
  return waiting_.empty();
}

}  // namespace profiler::live
