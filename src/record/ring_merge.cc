#include "src/record/ring_merge.h"

#include <algorithm>

namespace profiler::record {

void RingMerge::Advance(Source& source) {
  source.next = source.cursor.Next();
  if (source.next) source.time = perf_event::TimeOf(*source.next, layout_);
}

absl::Status RingMerge::Open(std::span<ringbuf::RingPass> rings) {
  while (bounce_.size() < rings.size()) {
    bounce_.push_back(std::make_unique<ringbuf::BounceBuffer>());
  }
  sources_.clear();
  for (size_t i = 0; i < rings.size(); ++i) {
    rings[i].consume = 0;
    sources_.push_back({&rings[i], ringbuf::RecordCursor(rings[i].bytes, *bounce_[i]), {}});
    Advance(sources_.back());
    PROFILER_RETURN_IF_ERROR(sources_.back().cursor.status());
  }
  return absl::OkStatus();
}

absl::Status RingMerge::Run(std::span<ringbuf::RingPass> rings, uint64_t until,
                            absl::FunctionRef<void(perf_event::RawRecord, int cpu)> take) {
  PROFILER_RETURN_IF_ERROR(Open(rings));
  TakeUntil(until, take);
  const bool crowded = std::any_of(rings.begin(), rings.end(), [](const ringbuf::RingPass& ring) {
    return ring.bytes.size() - ring.consume > ring.capacity / 2;
  });
  if (crowded) {
    ++hurried_;
    TakeUntil(UINT64_MAX, take);
  }
  for (const Source& source : sources_) PROFILER_RETURN_IF_ERROR(source.cursor.status());
  return absl::OkStatus();
}

void RingMerge::TakeUntil(uint64_t until,
                          absl::FunctionRef<void(perf_event::RawRecord, int cpu)> take) {
  // Records with equal times keep the order of the rings.
  const auto later = [](const Source* a, const Source* b) {
    return a->time != b->time ? a->time > b->time : a > b;
  };
  order_.clear();
  for (Source& source : sources_) {
    if (source.next) order_.push_back(&source);
  }
  std::make_heap(order_.begin(), order_.end(), later);
  while (!order_.empty()) {
    std::pop_heap(order_.begin(), order_.end(), later);
    Source& source = *order_.back();
    order_.pop_back();
    // While this ring has the earliest record, the heap need not be updated.
    const uint64_t limit = order_.empty() ? until : std::min(until, order_.front()->time);
    while (source.next && source.time <= limit) {
      take(*source.next, source.ring->cpu);
      source.ring->consume += source.next->bytes().size();
      Advance(source);
    }
    if (!source.next || source.time > until) continue;
    order_.push_back(&source);
    std::push_heap(order_.begin(), order_.end(), later);
  }
}

}  // namespace profiler::record
