// The consumer's side of one perf ring: a view of the mapped metadata page and data area.
//
//   perf_event_mmap_page | data area, 2^n pages
//                          ^ data_tail (ours)      ^ data_head (kernel's); both grow for ever,
//                          position = value mod size
//
// Memory order. kernel/events/ring_buffer.c (Linux 6.18) names four points:
//
//   kernel                                  here
//   A  reads data_tail, then writes records   C  reads data_head, then reads records
//   B  writes records, then data_head         D  reads records, then writes data_tail
//
//   B → C: our load-acquire of data_head pairs with the write barrier before the kernel publishes
//          it, so everything before head is written when we read head.
//   D → A: our store-release of data_tail pairs with the kernel's load of data_tail before a write,
//          so our reads are finished before the kernel reuses the bytes.
//
// Source: struct perf_event_mmap_page in include/uapi/linux/perf_event.h, Linux 6.18.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace profiler::ringbuf {

// The bytes between tail and head, in ring order. The second span is empty unless the bytes wrap
// around the end of the ring.
struct RingBytes {
  std::array<std::span<const std::byte>, 2> spans;
  size_t size() const { return spans[0].size() + spans[1].size(); }
};

// A consumer's view of a ring. Does not own the mapping, which must outlive the view. Use only one
// copy, in one thread, because a copy does not know which bytes another copy has consumed.
class RingView {
 public:
  RingView() = default;
  // `base` is the metadata page (struct perf_event_mmap_page), `data` the data area; its size is a
  // power of two.
  RingView(void* base, std::span<std::byte> data) : page_(base), data_(data) {}

  // Returns the bytes that the kernel has published and that are not yet consumed: one acquire load
  // of data_head, no copy. Valid until Consume. If head is more than the ring's size past tail (a
  // broken producer), returns the newest bytes, as many as the ring holds.
  RingBytes Peek();
  // Releases the first `size` bytes of the last Peek to the kernel: one release store of data_tail.
  void Consume(size_t size);
  // Returns the size of the data area in bytes.
  size_t capacity() const { return data_.size(); }

 private:
  void* page_ = nullptr;
  std::span<std::byte> data_;
  uint64_t start_ = 0;  // value of data_tail at the last Peek
  size_t unread_ = 0;   // bytes of the last Peek that are not consumed
};

}  // namespace profiler::ringbuf
