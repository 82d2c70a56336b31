// A recording as its bytes stand, for writing it anew: nothing is turned into native order, and
// what is unknown is kept.

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/base/status.h"
#include "src/perf_data/read/chunk_store.h"
#include "src/perf_data/read/event_table.h"
#include "src/perf_data/read/opened_files.h"
#include "src/perf_data/read/record_walker.h"

namespace profiler::perf_data {

// Not thread-safe.
class StoredRecording {
 public:
  // Errors: those of Recording::Open.
  static absl::StatusOr<StoredRecording> Open(const std::string& path);

  const FileHeader& header() const { return opened_.header; }
  bool swapped() const { return opened_.header.swapped; }
  bool is_directory() const { return opened_.files.size() > 1; }
  bool is_compressed() const { return compressed_; }
  // Of a stream that was cut or is corrupt: what of it is readable.
  std::span<const std::byte> file() const { return opened_.files.front().bytes(); }
  const DataPlace& data() const { return data_; }

  // By event: the attr, as many bytes as its entry or record has.
  const std::vector<std::string>& attrs() const { return attrs_; }
  EventTable& events() { return events_; }
  const EventTable& events() const { return events_; }
  // Of features, by number; of streams those in records, BUILD_ID and TRACING_DATA too.
  const std::map<int, std::string>& sections() const { return sections_; }
  // The table of event types of old recordings, as it stands in files.
  const std::string& event_types() const { return event_types_; }

  // Visits all records in the order of the file, those inside of compressed ones (`inflate`) or
  // these themselves, until `visit` fails. Returns its error; what ended the reading early is
  // reading() then, and cut ends are in warnings().
  using Visitor =
      absl::FunctionRef<absl::Status(const StoredRecord&, std::span<const std::byte> payload)>;
  absl::Status ForEach(bool inflate, Visitor visit);

  const absl::Status& reading() const { return reading_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  explicit StoredRecording(OpenedFiles opened)
      : opened_(std::move(opened)), events_(opened_.header.swapped) {}

  absl::Status ReadFileHeader();
  absl::Status ReadStreamHeader();
  void TakeStreamRecord(const StoredRecord& record, std::span<const std::byte> payload);
  absl::Status Walk(size_t file, uint64_t begin, uint64_t end, bool inflate, Visitor visit);
  void Warn(std::string text);

  OpenedFiles opened_;
  DataPlace data_;
  EventTable events_;
  std::vector<std::string> attrs_;
  std::map<int, std::string> sections_;
  std::string event_types_;
  bool compressed_ = false;
  absl::Status reading_;
  std::vector<std::string> warnings_;
};

// A record of a stream that a file has in its header instead.
bool IsHeaderRecord(uint32_t type);

}  // namespace profiler::perf_data
