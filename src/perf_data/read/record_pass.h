// One pass over the records of a recording: takes them from walkers, brings them into order and
// into native byte order, and hands them out.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/base/mapped_file.h"
#include "src/perf_data/format/features.h"
#include "src/perf_data/read/chunk_store.h"
#include "src/perf_data/read/event_table.h"
#include "src/perf_data/read/record_walker.h"
#include "src/perf_data/read/recording.h"
#include "src/perf_data/read/round_sorter.h"

namespace profiler::perf_data {

// What a pass works on; none of it is owned.
struct PassContext {
  EventTable* events = nullptr;
  Features* features = nullptr;
  ChunkStore* chunks = nullptr;
  const std::vector<MappedFile>* files = nullptr;  // that records may be in
  bool swapped = false;
  bool events_known = false;  // from the file's header: HEADER_ATTR records do not count
  bool has_rounds = true;     // false: FINISHED_ROUND says nothing (directories)
  // How many of perf's own records earlier passes have collected from.
  uint64_t* collected = nullptr;
};

// Not thread-safe.
class RecordPass {
 public:
  // False ends the pass.
  using Visitor = absl::FunctionRef<bool(const TimedRecord&)>;

  RecordPass(const PassContext& context, Recording::Order order, Visitor visit)
      : context_(context), order_(order), visit_(visit) {}

  // All that is left in `walker`. Afterwards its status() and cut_bytes() say how that ended,
  // unless the visitor stopped it.
  void Run(RecordWalker& walker);

  // One record that was taken from a walker earlier.
  void Take(const StoredRecord& record, std::span<const std::byte> payload);

  // Visits what is still held. Call it once, last.
  void Finish();

  bool stopped() const { return stopped_; }

  // Records could not be held until their round ended, so they may have come out of time order.
  bool gave_order_up() const { return gave_order_up_; }

 private:
  bool InTime() const {
    return order_ == Recording::Order::kTime || order_ == Recording::Order::kTimeAndRounds;
  }
  void TakeInTime(const StoredRecord& record, std::span<const std::byte> payload);
  void VisitSorted(const RoundSorter::Entry& entry);
  void Visit(const StoredRecord& record, uint64_t time, std::span<const std::byte> payload);
  // In native order; valid until the next one.
  perf_event::RawRecord Turned(const StoredRecord& record, uint32_t event);
  uint64_t FileOffsetOf(const std::byte* data) const;
  void Touch(size_t size);

  const PassContext context_;
  const Recording::Order order_;
  const Visitor visit_;
  RoundSorter sorter_;
  // The record at hand, when it is in the other byte order: whole, or its numbers.
  std::vector<std::byte> native_, scratch_;
  uint64_t own_records_ = 0;
  uint64_t touched_ = 0;  // bytes of mapped files touched since they were last forgotten
  bool gave_order_up_ = false;
  bool stopped_ = false;  // by the visitor
};

}  // namespace profiler::perf_data
