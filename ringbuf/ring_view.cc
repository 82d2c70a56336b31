#include "ringbuf/ring_view.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <atomic>
#include <cassert>

namespace profiler::ringbuf {
namespace {

std::atomic_ref<__u64> DataHead(void* page) {
  return std::atomic_ref<__u64>(static_cast<perf_event_mmap_page*>(page)->data_head);
}

std::atomic_ref<__u64> DataTail(void* page) {
  return std::atomic_ref<__u64>(static_cast<perf_event_mmap_page*>(page)->data_tail);
}

}  // namespace

RingBytes RingView::Peek() {
  if (data_.empty()) return {};
  // Point C of ring_view.h, pairs with B: everything before head is written.
  const uint64_t head = DataHead(page_).load(std::memory_order_acquire);
  // Only this thread writes the tail.
  const uint64_t tail = DataTail(page_).load(std::memory_order_relaxed);
  unread_ = static_cast<size_t>(std::min<uint64_t>(head - tail, data_.size()));
  start_ = head - unread_;

  const size_t position = static_cast<size_t>(start_ & (data_.size() - 1));
  const size_t until_end = std::min(unread_, data_.size() - position);
  const std::span<const std::byte> data = data_;
  return {{data.subspan(position, until_end), data.first(unread_ - until_end)}};
}

void RingView::Consume(size_t size) {
  assert(size <= unread_);
  if (data_.empty()) return;
  start_ += size;
  unread_ -= size;
  // Point D of ring_view.h, pairs with A: all reads of bytes before tail are finished.
  DataTail(page_).store(start_, std::memory_order_release);
}

}  // namespace profiler::ringbuf
