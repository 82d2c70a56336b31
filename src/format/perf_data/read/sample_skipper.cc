#include "src/format/perf_data/read/sample_skipper.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

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

void SampleSkipper::Advance(RecordWalker& walker) {
  const uint64_t start = walker.offset(), end = walker.end();
  uint64_t at = start;
  std::span<const std::byte> bytes;
  while (at < end) {
    if (bytes.size() < sizeof(RecordHeader)) bytes = BytesAt(at, end, sizeof(RecordHeader));
    if (bytes.size() < sizeof(RecordHeader)) break;
    StoredRecord record{.data = bytes.data()};
    std::memcpy(&record.header, bytes.data(), sizeof(RecordHeader));
    const size_t size = record.header.size;
    if (record.header.type != perf_event::kRecordSample || size < sizeof(RecordHeader)) break;
    if (bytes.size() < size) {
      bytes = BytesAt(at, end, size);
      if (bytes.size() < size) break;
      record.data = bytes.data();
    }
    const uint64_t time = events_.TimeOf(record);
    if (!IsTime(time) || window_.Has(time)) break;
    events_.EventOf(record);  // counts unknown ids
    sorter_.PassOver(time, file_.data() + at);
    at += size;
    bytes = bytes.subspan(size);
  }
  if (at != start) walker.Skip(at - start);
}

}  // namespace profiler::perf_data
