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

// A record of `type` with that body; its size is made a multiple of 8 by zeroes at the end.
std::vector<std::byte> MakeRecord(uint32_t type, std::span<const std::byte> body,
                                  uint16_t misc = 0);
// The same with a body of `body_size` bytes that count up from `seed`.
std::vector<std::byte> MakeRecord(uint32_t type, size_t body_size, uint8_t seed = 0);

// One producer thread (Publish) and one consumer thread (view) at a time, as with a real ring.
class FakeRing {
 public:
  // `data_size` is a power of two. `start` is where head and tail stand at first.
  explicit FakeRing(size_t data_size, uint64_t start = 0, uint64_t event_id = 0);

  RingView& view() { return view_; }
  uint64_t head() const;
  uint64_t tail() const;
  // Records that found no room and that no LOST record has told of yet.
  uint64_t lost() const { return lost_; }

  // Writes `record` as the kernel does (__perf_output_begin): not at all when it does not fit
  // between head and tail with a byte to spare, which counts it as lost; and after a
  // PERF_RECORD_LOST when some were lost before, both or neither. Says whether it was written.
  bool Publish(std::span<const std::byte> record);
  // What stands behind the id and the count in LOST records (their sample_id), none at first.
  void set_lost_sample_id(std::vector<std::byte> bytes) { lost_sample_id_ = std::move(bytes); }

  // Sets data_head, for what a broken producer might do.
  void set_head(uint64_t head);
  // Writes without regard for room, tail or sense.
  void WriteRaw(std::span<const std::byte> bytes);

 private:
  bool HasRoom(size_t size) const;
  // Copies to position `at`, around the end where need be, and returns the position behind.
  uint64_t CopyIn(uint64_t at, std::span<const std::byte> bytes);

  std::unique_ptr<perf_event_mmap_page> page_;
  std::vector<std::byte> data_;
  RingView view_;
  uint64_t event_id_;
  uint64_t lost_ = 0;
  std::vector<std::byte> lost_sample_id_;
};

}  // namespace profiler::ringbuf
