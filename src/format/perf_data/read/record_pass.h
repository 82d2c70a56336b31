// Makes one pass over the records of a recording: takes them from walkers, sorts them, converts
// them to native byte order, and visits them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/base/mapped_file.h"
#include "src/format/perf_data/format/features.h"
#include "src/format/perf_data/read/chunk_store.h"
#include "src/format/perf_data/read/event_table.h"
#include "src/format/perf_data/read/record_walker.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_data/read/round_sorter.h"
#include "src/format/perf_data/read/sample_skipper.h"

namespace profiler::perf_data {

// The objects that a pass uses; it owns none of them.
struct PassContext {
  EventTable* events = nullptr;
  Features* features = nullptr;
  ChunkStore* chunks = nullptr;
  const std::vector<MappedFile>* files = nullptr;  // mapped files that contain records
  int readable_file = -1;                          // the descriptor of the only file; -1: none
  bool swapped = false;
  bool events_known = false;  // true if the file's header has the events; HEADER_ATTR is ignored
  bool has_rounds = true;     // false: FINISHED_ROUND is ignored (directories)
  // Number of perf's own records whose content earlier passes have collected.
  uint64_t* collected = nullptr;
  Recording::Window window;  // samples outside of it are passed over in time order
};

// A pass, which takes records from one walker after the other. Not thread-safe.
class RecordPass {
 public:
  // A visitor that returns false ends the pass.
  using Visitor = absl::FunctionRef<bool(const TimedRecord&)>;

  RecordPass(const PassContext& context, Recording::Order order, Visitor visit);

  // Visits all records left in `walker`. Afterwards the walker's status() and cut_bytes() tell how
  // the walk ended, unless the visitor stopped the pass.
  void Run(RecordWalker& walker);

  // Takes one record that a walker returned earlier.
  void Take(const StoredRecord& record, std::span<const std::byte> payload);

  // Visits the records that are still held. Call it once, last.
  void Finish();

  bool stopped() const { return stopped_; }

  // True if holding records until the end of their round took too much memory. Then some records
  // may have been visited out of time order.
  bool gave_order_up() const { return gave_order_up_; }

 private:
  bool InTime() const {
    return order_ == Recording::Order::kTime || order_ == Recording::Order::kTimeAndRounds;
  }
  void Skip(RecordWalker& walker);
  void TakeInTime(const StoredRecord& record, std::span<const std::byte> payload);
  bool IsPassedOver(const StoredRecord& record, uint64_t time) const {
    return !context_.window.Has(time) && record.header.type == perf_event::kRecordSample &&
           InTime();
  }
  void VisitSorted(const RoundSorter::Entry& entry);
  void Visit(const StoredRecord& record, uint64_t time, std::span<const std::byte> payload);
  // Converts the record to native order. The result is valid until the next call.
  perf_event::RawRecord Turned(const StoredRecord& record, uint32_t event);
  uint64_t FileOffsetOf(const std::byte* data) const;
  void Touch(size_t size);

  const PassContext context_;
  const Recording::Order order_;
  const Visitor visit_;
  RoundSorter sorter_;
  std::optional<SampleSkipper> skipper_;  // owns records that sorter_ holds
  // A sample without fields, in the order of the file, for samples that are passed over.
  std::byte bare_sample_[sizeof(perf_event::RecordHeader)];
  // Copies of the current record if it is in the other byte order. TurnToNative uses scratch_; all
  // other records are in native_.
  std::vector<std::byte> native_, scratch_;
  uint64_t own_records_ = 0;
  uint64_t touched_ = 0;  // bytes of mapped files touched since they were last forgotten
  bool gave_order_up_ = false;
  bool stopped_ = false;  // true if the visitor stopped the pass
};

}  // namespace profiler::perf_data
