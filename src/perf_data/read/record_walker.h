// Splits the bytes of a recording into whole records, those inside of compressed records included.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "src/base/status.h"
#include "src/perf_data/read/byte_source.h"
#include "src/perf_data/read/chunk_store.h"
#include "src/perf_data/read/event_table.h"
#include "src/perf_data/read/inflating_source.h"

namespace profiler::perf_data {

// Not thread-safe.
class RecordWalker {
 public:
  // Where a walk begins. At the start of a stream types from 69 on may have the meaning that
  // ChromeOS's perf of 2012 to 2015 gave them: a feature section each, in front of the events. They
  // come as the HEADER_FEATURE records that perf has for them now.
  enum class Start : uint8_t { kOfRecords, kOfStream };

  // `chunks` is not owned. `swapped`: the bytes are in the other byte order.
  RecordWalker(std::unique_ptr<ByteSource> source, Start start, bool swapped, ChunkStore* chunks)
      : source_(std::move(source)),
        chunks_(chunks),
        inflating_(chunks),
        swapped_(swapped),
        in_front_of_events_(start == Start::kOfStream) {}

  // What becomes of compressed records.
  enum class Compressed : uint8_t {
    kInflate,         // what is inside of them comes in their place
    kShowAndInflate,  // they come themselves, and then what is inside
    kKeep,            // they come themselves
  };
  void Handle(Compressed how) { compressed_ = how; }

  // False at the end; status() and cut_bytes() say of which kind it was. Compressed records do not
  // appear unless asked for, what is inside of them does. `record` lives as long as the source's
  // bytes.
  bool Next(StoredRecord* record) {
    return (in_compressed_ && NextInside(record)) || NextOutside(record);
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
  bool IsChromeOsFeature(uint32_t type);
  void MakeHeaderFeature(StoredRecord* record);
  void OpenCompressed(const StoredRecord& record);
  bool TakePayload(const StoredRecord& record);

  std::unique_ptr<ByteSource> source_;
  ChunkStore* const chunks_;
  InflatingSource inflating_;
  bool swapped_;
  bool in_front_of_events_;              // of a stream
  uint32_t last_chrome_os_feature_ = 0;  // the type of the last one there
  Compressed compressed_ = Compressed::kInflate;
  bool in_compressed_ = false;
  uint64_t record_offset_ = 0;  // in the file, of the last record outside
  std::span<const std::byte> payload_;
  absl::Status status_;
  size_t cut_bytes_ = 0;
};

// What a last record that is not whole is: an error where the header says that it is all there, a
// warning where nothing does (streams, directories), nothing new where that has been said.
enum class CutRecord { kError, kWarning, kKnown };

// What a walk that has ended came to: kDataLoss, with `name`, offset, record type and field, or
// what the reading met. A cut record that is no error is told in `*warning`, else that is left
// alone.
absl::Status HowItEnded(const RecordWalker& walker, const std::string& name, CutRecord cut_record,
                        std::string* warning);

}  // namespace profiler::perf_data
