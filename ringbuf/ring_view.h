// The consumer's side of one perf ring: a view over the mapped metadata page and data area.
//
//   perf_event_mmap_page | data area, 2^n pages
//                          ^ data_tail (ours)      ^ data_head (kernel's); both grow for ever,
//                          position = value mod size
//
// Memory order, as in the kernel's kernel/events/ring_buffer.c: the load-acquire of data_head pairs
// with the kernel's write barrier before it publishes head (so the records are there); our
// store-release of data_tail pairs with the kernel's load of tail before it overwrites (so our
// reads are done).

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

// Does not own the mapping. One consumer thread.
class RingView {
 public:
  RingView() = default;
  // `base` is the metadata page (struct perf_event_mmap_page), `data` the data area; its size is a
  // power of two.
  RingView(void* base, std::span<std::byte> data) : page_(base), data_(data) {}

  // What the kernel has published and we have not consumed: one acquire load of data_head, no copy.
  // Valid until Consume. A head that is more than the ring's size past the tail (a broken producer)
  // gives the newest whole ring's worth.
  RingBytes Peek() const;
  // Releases the first `size` bytes of the last Peek to the kernel: one release store of data_tail.
  void Consume(size_t size);
  size_t capacity() const { return data_.size(); }

 private:
  void* page_ = nullptr;
  std::span<std::byte> data_;
};

// Walks whole records in RingBytes. A record that straddles the ring's end is copied into `bounce`.
class RecordCursor;

}  // namespace profiler::ringbuf
