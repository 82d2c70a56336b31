#include "src/format/perf_data/read/record_pass.h"

#include <cstring>

#include "src/format/perf_data/read/own_records.h"
#include "src/format/perf_event/abi.h"

namespace profiler::perf_data {
namespace {

using perf_event::RawRecord;
using perf_event::RecordHeader;

// Approximate size of the mapped files' resident part.
constexpr uint64_t kResidentBytes = 64 << 20;

// Limit for the memory of held records: their bytes in chunks, and the entries of the sorter.
// Without a limit, a small compressed recording could take any amount.
constexpr uint64_t kMaxHeldBytes = 256 << 20;

}  // namespace

RecordPass::RecordPass(const PassContext& context, Recording::Order order, Visitor visit)
    : context_(context), order_(order), visit_(visit) {
  const RecordHeader header{.type = perf_event::kRecordSample, .misc = 0, .size = sizeof(header)};
  const RecordHeader stored = context.swapped ? perf_event::SwapHeader(header) : header;
  std::memcpy(bare_sample_, &stored, sizeof(stored));
}

void RecordPass::Run(RecordWalker& walker) {
  if (order_ == Recording::Order::kStored) {
    walker.Handle(RecordWalker::Compressed::kShowAndInflate);
  }
  const bool skips =
      context_.readable_file >= 0 && !context_.swapped && InTime() && !context_.window.HasAll();
  if (skips && !skipper_) {
    skipper_.emplace(context_.readable_file, context_.window, *context_.events);
  }
  StoredRecord record;
  while (!stopped_) {
    if (skips && walker.is_between_records()) Skip(walker);
    if (stopped_ || !walker.Next(&record)) break;
    Take(record, walker.payload());
    if (!InTime()) context_.chunks->FreeReleased();
  }
}

void RecordPass::Skip(RecordWalker& walker) {
  const uint64_t begin = walker.offset();
  skipper_->Advance(
      walker, [this](uint64_t time) { sorter_.PassOver(time, bare_sample_); },
      [this](const StoredRecord& record) {
        Take(record, {});
        return !stopped_;
      });
  Touch(walker.offset() - begin);
}

void RecordPass::Take(const StoredRecord& record, std::span<const std::byte> payload) {
  Touch(record.header.size);
  if (record.header.type >= perf_event::kRecordUserFirst && ++own_records_ > *context_.collected) {
    *context_.collected = own_records_;
    CollectOwnRecord(record, payload, context_.swapped, context_.events_known, context_.events,
                     context_.features);
  }
  if (!InTime()) {
    const uint64_t time = context_.events->TimeOf(record);
    Visit(record, IsTime(time) ? time : 0, payload);
  } else {
    TakeInTime(record, payload);
  }
}

void RecordPass::TakeInTime(const StoredRecord& record, std::span<const std::byte> payload) {
  if (record.header.type == perf_event::kRecordFinishedRound) {
    if (order_ == Recording::Order::kTimeAndRounds) Visit(record, 0, payload);
    if (!context_.has_rounds) return;
    sorter_.EndRound([this](const RoundSorter::Entry& entry) { VisitSorted(entry); });
    context_.chunks->EndRound();
    return;
  }
  const uint64_t time = context_.events->TimeOf(record);
  if (!IsTime(time)) {
    Visit(record, 0, payload);
    return;
  }
  if (IsPassedOver(record, time)) {
    context_.events->EventOf(record);  // counts unknown ids
    sorter_.PassOver(time, bare_sample_);
    return;
  }
  sorter_.Add(time, record.data);
  const uint64_t held = context_.chunks->held_bytes();
  if (held != 0 && held + sorter_.held() * sizeof(RoundSorter::Entry) > kMaxHeldBytes)
      [[unlikely]] {
    gave_order_up_ = true;
    Finish();
    context_.chunks->FreeReleased();
  }
}

void RecordPass::Finish() {
  sorter_.Flush([this](const RoundSorter::Entry& entry) { VisitSorted(entry); });
}

void RecordPass::VisitSorted(const RoundSorter::Entry& entry) {
  StoredRecord record;
  record.data = entry.record;
  std::memcpy(&record.header, record.data, sizeof(record.header));
  if (context_.swapped) record.header = perf_event::SwapHeader(record.header);
  Touch(record.header.size);
  Visit(record, entry.time, {});
}

void RecordPass::Visit(const StoredRecord& record, uint64_t time,
                       std::span<const std::byte> payload) {
  if (stopped_) return;
  const uint32_t event = context_.events->EventOf(record);
  stopped_ = !visit_(
      {context_.swapped ? Turned(record, event) : RawRecord({record.data, record.header.size}),
       time, event, FileOffsetOf(record.data), payload});
}

RawRecord RecordPass::Turned(const StoredRecord& record, uint32_t event) {
  const std::span<const std::byte> stored(record.data, record.header.size);
  const std::vector<EventDescription>& events = context_.events->events();
  const bool known = record.header.type < perf_event::kRecordUserFirst && event < events.size();
  if (known && order_ != Recording::Order::kStored) {
    return perf_event::TurnToNative(stored, record.header, events[event].layout, &scratch_);
  }
  native_.assign(stored.begin(), stored.end());
  std::memcpy(native_.data(), &record.header, sizeof(record.header));
  if (record.header.type >= perf_event::kRecordUserFirst) {
    SwapOwnBodyToNative(native_);
  } else if (known) {
    perf_event::SwapBodyToNative(native_, events[event].layout);
  }
  return RawRecord(native_);
}

uint64_t RecordPass::FileOffsetOf(const std::byte* data) const {
  for (const MappedFile& file : *context_.files) {
    const std::span<const std::byte> bytes = file.bytes();
    if (data >= bytes.data() && data < bytes.data() + bytes.size()) return data - bytes.data();
  }
  const uint64_t offset = context_.chunks->FileOffsetOf(data);
  return offset == 0 && skipper_ ? skipper_->FileOffsetOf(data) : offset;
}

// Limits resident memory by releasing all pages of the mapped files. Pages that are still needed,
// for the reader's window and for records of the last two rounds, come back when touched.
void RecordPass::Touch(size_t size) {
  touched_ += size;
  if (touched_ < kResidentBytes) return;
  touched_ = 0;
  for (const MappedFile& file : *context_.files) MappedFile::Forget(file.bytes());
}

}  // namespace profiler::perf_data
