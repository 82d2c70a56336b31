// Hands out the records of several rings in one time order.
//
//   ring 0   |1 4 6 |9        numbers: times          began − margin = 7
//   ring 1   |2 5   |8 10     handed out: 1 2 4 5 6   left in the rings: 9, 8 10
//
// A record is published a little after its time, so what the rings hold when a pass begins is
// complete up to that moment less a margin, and no further: a mapping may be published on one CPU
// after a later sample of the same process on another. Later records stay where they are, in the
// ring, until the next pass. Within a ring the order is the ring's, whatever the times say; small
// inversions are normal there (interrupts).

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
#include "src/perf_event/codec.h"

namespace profiler::record {

// From a record's time to its being published: far more than the copy of the largest record takes.
inline constexpr uint64_t kPublishingMargin = 500'000;  // ns

// One thread. Allocates nothing once it has seen all rings.
class RingMerge {
 public:
  // `layout` says where records have their time; those without any are not waited for.
  explicit RingMerge(const perf_event::RecordLayout& layout) : layout_(layout) {}

  // Hands out the records up to `until` and sets each ring's `consume` to what they take. Where
  // more than half of a ring would stay, which the kernel would soon fill up, it goes on without
  // waiting and takes everything. A record lives during the call of `take`. kDataLoss for bytes
  // that are no records.
  absl::Status Run(std::span<ringbuf::RingPass> rings, uint64_t until,
                   absl::FunctionRef<void(perf_event::RawRecord)> take);

  // How often it did not wait.
  uint64_t hurried() const { return hurried_; }

 private:
  struct Source {
    ringbuf::RingPass* ring;
    ringbuf::RecordCursor cursor;
    std::optional<perf_event::RawRecord> next;
    uint64_t time = 0;  // of `next`
  };

  absl::Status Open(std::span<ringbuf::RingPass> rings);
  void Advance(Source& source);
  void TakeUntil(uint64_t until, absl::FunctionRef<void(perf_event::RawRecord)> take);

  const perf_event::RecordLayout layout_;
  std::vector<Source> sources_;
  std::vector<Source*> order_;  // a heap: the earliest in front
  // One a ring, for its record that straddles the end.
  std::vector<std::unique_ptr<ringbuf::BounceBuffer>> bounce_;
  uint64_t hurried_ = 0;
};

}  // namespace profiler::record
