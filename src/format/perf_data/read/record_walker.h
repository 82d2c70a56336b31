// Splits the bytes of a recording into whole records, including those inside compressed records.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "src/base/status.h"
#include "src/format/perf_data/read/byte_source.h"
#include "src/format/perf_data/read/chunk_store.h"
#include "src/format/perf_data/read/event_table.h"
#include "src/format/perf_data/read/inflating_source.h"

namespace profiler::perf_data {

// An iterator over records. Not thread-safe.
class RecordWalker {
 public:
  // The position where a walk begins. From 2012 to 2015, ChromeOS's perf wrote the feature sections
  // at the start of a stream, before the events, as records of types from 69 on. With kOfStream,
  // these records are converted to HEADER_FEATURE records, which perf writes now.
  enum class Start : uint8_t { kOfRecords, kOfStream };

  // Does not own `chunks`. `swapped`: the bytes are in the other byte order.
  RecordWalker(std::unique_ptr<ByteSource> source, Start start, bool swapped, ChunkStore* chunks)
      : source_(std::move(source)),
        chunks_(chunks),
        inflating_(chunks),
        swapped_(swapped),
        in_front_of_events_(start == Start::kOfStream) {}

  // How Next handles compressed records.
  enum class Compressed : uint8_t {
    kInflate,         // returns the records inside them instead
    kShowAndInflate,  // returns compressed records, each followed by the records inside it
    kKeep,            // returns compressed records, but not the records inside them
  };
  void Handle(Compressed how) { compressed_ = how; }

  // Sets `*record` to the next record. Returns false at the end; then status() and cut_bytes() tell
  // why the walk ended. The record lives as long as the source's bytes.
  bool Next(StoredRecord* record) {
    return (in_compressed_ && NextInside(record)) || NextOutside(record);
  }

  // Returns the bytes that follow the last record and belong to it: the trace of an AUXTRACE or
  // TRACING_DATA record. Empty for all other records, and for a trace that is too large to be held.
  std::span<const std::byte> payload() const { return payload_; }

  // Returns the error that ended the walk: kDataLoss, with offset, record type and field, or the
  // error of reading. OK if there was none.
  const absl::Status& status() const { return status_; }
  // Returns the number of bytes of an incomplete last record.
  size_t cut_bytes() const { return cut_bytes_; }
  // Returns the current offset in the file.
  uint64_t offset() const { return source_->offset(); }

  // True if the next record is at offset(), and not inside a compressed record.
  bool is_between_records() const { return !in_compressed_ && status_.ok(); }
  // Returns the offset at which the records of a mapped file end; 0 for other sources.
  uint64_t end() const { return source_->end(); }
  // Skips whole records. Only allowed between records.
  void Skip(uint64_t size) { source_->Skip(size); }

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
  bool in_front_of_events_;              // true until the first event of a stream
  uint32_t last_chrome_os_feature_ = 0;  // record type of the last one; 0: none yet
  Compressed compressed_ = Compressed::kInflate;
  bool in_compressed_ = false;
  uint64_t record_offset_ = 0;  // file offset of the last record that is not inside another
  std::span<const std::byte> payload_;
  absl::Status status_;
  size_t cut_bytes_ = 0;
};

// How to report an incomplete last record. It is an error if the header has the size of the data.
// It is a warning if there is no such size (streams, directories). It is not reported if a warning
// already says that the file is truncated.
enum class CutRecord { kError, kWarning, kKnown };

// Returns the result of a walk that has ended: kDataLoss, with `name`, offset, record type and
// field, or the error of reading. Sets `*warning` if an incomplete record is no error, and
// otherwise leaves it unchanged.
absl::Status HowItEnded(const RecordWalker& walker, const std::string& name, CutRecord cut_record,
                        std::string* warning);

}  // namespace profiler::perf_data
