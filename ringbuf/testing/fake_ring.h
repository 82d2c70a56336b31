// A perf ring on the heap and the kernel's side of it, for tests.

#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ringbuf/ring_view.h"

namespace profiler::ringbuf {

// Returns a record of `type` with that body, zero-padded to a size that is a multiple of 8.
std::vector<std::byte> MakeRecord(uint32_t type, std::span<const std::byte> body,
                                  uint16_t misc = 0);
// Returns a record whose body is `body_size` bytes that count up from `seed`.
std::vector<std::byte> MakeRecord(uint32_t type, size_t body_size, uint8_t seed = 0);

// A ring for one producer thread (Publish) and one consumer thread (view) at a time, like a real
// ring.
class FakeRing {
 public:
  // `data_size` is a power of two. `start` is the initial value of head and tail.
  explicit FakeRing(size_t data_size, uint64_t start = 0, uint64_t event_id = 0);

  RingView& view() { return view_; }
  uint64_t head() const;
  uint64_t tail() const;
  // Number of records that did not fit and that no LOST record has reported yet.
  uint64_t lost() const { return lost_; }

  // Writes `record` as the kernel does (__perf_output_begin) and returns true. If records were lost
  // before, a PERF_RECORD_LOST precedes it. If both do not fit between head and tail with a byte to
  // spare, nothing is written, the record counts as lost, and the result is false.
  bool Publish(std::span<const std::byte> record);
  // Sets the bytes (sample_id) that follow the id and the count in LOST records; none by default.
  void set_lost_sample_id(std::vector<std::byte> bytes) { lost_sample_id_ = std::move(bytes); }

  // Sets data_head, to imitate a broken producer.
  void set_head(uint64_t head);
  // Writes without checking for room or for valid records.
  void WriteRaw(std::span<const std::byte> bytes);

 private:
  bool HasRoom(size_t size) const;
  // Copies to position `at`, and wraps at the end of the ring. Returns the position behind the
  // copy.
  uint64_t CopyIn(uint64_t at, std::span<const std::byte> bytes);

  std::unique_ptr<perf_event_mmap_page> page_;
  std::vector<std::byte> data_;
  RingView view_;
  uint64_t event_id_;
  uint64_t lost_ = 0;
  std::vector<std::byte> lost_sample_id_;
};

}  // namespace profiler::ringbuf
