// Hands out the records of several rings in one time order.
//
//   ring 0   |1 4 6 |9        numbers: times          began − margin = 7
//   ring 1   |2 5   |8 10     handed out: 1 2 4 5 6   left in the rings: 9, 8 10
//
// The kernel publishes a record a little after the record's time. So a mapping on one CPU may be
// published only after a later sample of the same process on another CPU. When a pass begins, the
// rings are therefore complete only up to that moment minus a margin. Records with a later time
// stay in their ring until the next pass. Records of one ring keep the ring's order, whatever their
// times are. In a ring, times that go back a little are normal, because of interrupts.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "ringbuf/drain_loop.h"
#include "ringbuf/record_cursor.h"
#include "src/base/status.h"
#include "src/format/perf_event/codec.h"

namespace profiler::record {

// Longest time from a record's timestamp to its publication. Copying the largest record takes far
// less.
inline constexpr uint64_t kPublishingMargin = 500'000;  // in ns

// The merge. Use it from one thread. Does not allocate once it has seen all rings.
class RingMerge {
 public:
  // `layout` says where records have their time. Records without a time are handed out at once.
  explicit RingMerge(const perf_event::RecordLayout& layout) : layout_(layout) {}

  // Hands out the records up to `until`, and sets each ring's `consume` to the bytes that they
  // take. If more than half of a ring would stay unread, hands out all records without waiting,
  // because the kernel would soon fill that ring up. A record is valid during the call of `take`,
  // which also gets the CPU of its ring.
  // Returns kDataLoss for bytes that are no records.
  absl::Status Run(std::span<ringbuf::RingPass> rings, uint64_t until,
                   absl::FunctionRef<void(perf_event::RawRecord, int cpu)> take);

  // Returns how often Run has handed out all records without waiting.
  uint64_t hurried() const { return hurried_; }

 private:
  struct Source {
    ringbuf::RingPass* ring;
    ringbuf::RecordCursor cursor;
    std::optional<perf_event::RawRecord> next;
    uint64_t time = 0;  // time of `next`
  };

  absl::Status Open(std::span<ringbuf::RingPass> rings);
  void Advance(Source& source);
  void TakeUntil(uint64_t until, absl::FunctionRef<void(perf_event::RawRecord, int cpu)> take);

  const perf_event::RecordLayout layout_;
  std::vector<Source> sources_;
  std::vector<Source*> order_;  // a heap, the earliest in front
  // One per ring, for the record that straddles its end.
  std::vector<std::unique_ptr<ringbuf::BounceBuffer>> bounce_;
  uint64_t hurried_ = 0;
};

}  // namespace profiler::record
