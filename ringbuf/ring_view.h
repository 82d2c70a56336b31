// The consumer's side of one perf ring: a view over the mapped metadata page and data area.
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
//          it, so the records up to head are there to be read.
//   D → A: our store-release of data_tail pairs with the kernel's load of it before it overwrites,
//          so our reads are done before the room is reused.
//
// Source: struct perf_event_mmap_page in include/uapi/linux/perf_event.h, Linux 6.18.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace profiler::ringbuf {

// Bytes between tail and head, in ring order: the second span is empty unless they wrap around the
// end.
struct RingBytes {
  std::array<std::span<const std::byte>, 2> spans;
  size_t size() const { return spans[0].size() + spans[1].size(); }
};

// Does not own the mapping, which must outlive it. One consumer thread; copies do not know of each
// other's Peek.
class RingView {
 public:
  RingView() = default;
  // `base` is the metadata page (struct perf_event_mmap_page), `data` the data area; its size is a
  // power of two.
  RingView(void* base, std::span<std::byte> data) : page_(base), data_(data) {}

  // What the kernel has published and we have not consumed: one acquire load of data_head, no copy.
  // Valid until Consume. A head that is more than the ring's size past the tail (a broken producer)
  // gives the newest whole ring's worth.
  RingBytes Peek();
  // Releases the first `size` bytes of the last Peek to the kernel: one release store of data_tail.
  void Consume(size_t size);
  // Bytes of the data area.
  size_t capacity() const { return data_.size(); }

 private:
  void* page_ = nullptr;
  std::span<std::byte> data_;
  uint64_t start_ = 0;  // where the last Peek began, as data_tail counts
  size_t unread_ = 0;   // what is left of it
};

}  // namespace profiler::ringbuf
