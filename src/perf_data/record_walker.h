// Splits the bytes of a recording into whole records, those inside of compressed records included.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "src/base/status.h"
#include "src/perf_data/byte_source.h"
#include "src/perf_data/chunk_store.h"
#include "src/perf_data/event_table.h"
#include "src/perf_data/inflating_source.h"

namespace profiler::perf_data {

// Not thread-safe.
class RecordWalker {
 public:
  // `chunks` is not owned. `swapped`: the bytes are in the other byte order.
  RecordWalker(std::unique_ptr<ByteSource> source, bool swapped, ChunkStore* chunks)
      : source_(std::move(source)), inflating_(chunks), swapped_(swapped) {}

  // Compressed records themselves are given too, each in front of what is inside of it.
  void ShowCompressed() { show_compressed_ = true; }

  // False at the end; status() and cut_bytes() say of which kind it was. Compressed records do not
  // appear unless asked for, what is inside of them does. `record` lives as long as the source's
  // bytes.
  bool Next(StoredRecord* record) {
    if (in_compressed_ && NextInside(record)) return true;
    return NextOutside(record);
  }

  // What follows the record that Next gave last, and belongs to it: the trace of an AUXTRACE or
  // TRACING_DATA record. Empty for all others, and when it is too large to be held.
  std::span<const std::byte> payload() const { return payload_; }

  // kDataLoss, with offset, record type and field, or what the reading met.
  const absl::Status& status() const { return status_; }
  // The bytes of a last record that is not whole.
  size_t cut_bytes() const { return cut_bytes_; }
  // Where the walk stands in the file.
  uint64_t offset() const { return source_->offset(); }

 private:
  bool Take(ByteSource& source, StoredRecord* record);
  bool NextInside(StoredRecord* record);
  bool NextOutside(StoredRecord* record);
  void OpenCompressed(const StoredRecord& record);
  bool TakePayload(const StoredRecord& record);

  std::unique_ptr<ByteSource> source_;
  InflatingSource inflating_;
  bool swapped_;
  bool show_compressed_ = false;
  bool in_compressed_ = false;
  uint64_t record_offset_ = 0;  // in the file, of the last record outside
  std::span<const std::byte> payload_;
  absl::Status status_;
  size_t cut_bytes_ = 0;
};

}  // namespace profiler::perf_data
