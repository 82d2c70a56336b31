#include "src/format/perf_data/read/sample_skipper.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/format/perf_event/abi.h"

namespace profiler::perf_data {

using perf_event::RecordHeader;

// Returns bytes of the file from `offset` on: at least `need` of them, or fewer if `end` is near or
// the file cannot be read.
std::span<const std::byte> SampleSkipper::BytesAt(uint64_t offset, uint64_t end, size_t need) {
  constexpr size_t kBuffer = 256 << 10;  // half of a second-level cache
  if (offset < begin_ || offset + need > end_) {
    buffer_.resize(kBuffer);
    const ssize_t got = pread(fd_, buffer_.data(), std::min<uint64_t>(kBuffer, end - offset),
                              static_cast<off_t>(offset));
    begin_ = offset;
    end_ = offset + std::max<ssize_t>(got, 0);
  }
  return std::span(buffer_).subspan(offset - begin_, end_ - offset);
}

// Passes on a copy, because the record may be visited after the next rounds.
bool SampleSkipper::TakeCopy(StoredRecord record, uint64_t offset, Take take) {
  const size_t size = record.header.size;
  if (chunk_ != nullptr && chunk_->capacity - chunk_used_ < size) {
    copies_.Release(std::exchange(chunk_, nullptr));
  }
  if (chunk_ == nullptr) {
    chunk_ = copies_.Allocate();
    chunk_used_ = 0;
  }
  std::byte* const copy = chunk_->data.get() + chunk_used_;
  std::memcpy(copy, record.data, size);
  chunk_->origins.push_back({chunk_used_, offset, false});
  chunk_used_ += size;
  record.data = copy;
  return take(record);
}

void SampleSkipper::Advance(RecordWalker& walker, PassOver pass_over, Take take) {
  const uint64_t start = walker.offset(), end = walker.end();
  uint64_t at = start;
  std::span<const std::byte> bytes;
  bool is_going_on = true;
  while (is_going_on && at < end) {
    if (bytes.size() < sizeof(RecordHeader)) bytes = BytesAt(at, end, sizeof(RecordHeader));
    if (bytes.size() < sizeof(RecordHeader)) break;
    StoredRecord record{.data = bytes.data()};
    std::memcpy(&record.header, bytes.data(), sizeof(RecordHeader));
    const size_t size = record.header.size;
    const bool is_round = record.header.type == perf_event::kRecordFinishedRound;
    if (size < sizeof(RecordHeader)) break;
    if (record.header.type >= perf_event::kRecordUserFirst && !is_round) break;
    if (bytes.size() < size) {
      bytes = BytesAt(at, end, size);
      if (bytes.size() < size) break;
      record.data = bytes.data();
    }
    if (record.header.type == perf_event::kRecordSample) {
      const uint64_t time = events_.TimeOf(record);
      if (!IsTime(time) || window_.Has(time)) break;
      events_.EventOf(record);  // counts unknown ids
      pass_over(time);
    } else {
      is_going_on = is_round ? take(record) : TakeCopy(record, at, take);
      if (is_round) copies_.EndRound();
    }
    at += size;
    bytes = bytes.subspan(size);
  }
  if (at != start) walker.Skip(at - start);
}

}  // namespace profiler::perf_data
