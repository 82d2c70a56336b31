// Writes a stored recording's bytes to a file or a stream, in the recording's own byte order.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/format/perf_data/read/stored_recording.h"
#include "src/format/perf_data/write/record_compressor.h"
#include "src/format/perf_data/write/write_pieces.h"

namespace profiler::perf_data {

// Returns the size of each attr in a file that contains all `attrs`.
size_t SizeOfAll(const std::vector<std::string>& attrs);

// Returns the attr resized to `size` bytes, with `size` in its size field.
std::string SizedAttr(std::string attr, size_t size, bool swapped);

// An output for one thread. Call Start, then Append, then Finish.
class RewriteOutput {
 public:
  // `recording` must outlive this.
  RewriteOutput(const StoredRecording& recording, OpenedOutput output, bool as_stream)
      : recording_(recording), output_(std::move(output)), stream_(as_stream || output_.stream) {}

  bool stream() const { return stream_; }
  // Compresses the kernel's records from now on.
  void CompressWith(RecordCompressor compressor) { compressor_.emplace(std::move(compressor)); }

  // Writes everything before the records. A file gets its sections later, in Finish. A stream gets
  // all `sections` now. If the input is also a stream, the output gets only the sections in
  // `added`, because the copied records contain the others.
  absl::Status Start(const Sections& sections, const Sections& added);

  // Appends a record and its payload, as stored.
  absl::Status Append(const StoredRecord& record, std::span<const std::byte> payload);

  // Writes the sections behind the records, and updates the header.
  absl::Status Finish(Sections sections);

  uint64_t bytes_written() const { return offset_; }

 private:
  bool swapped() const { return recording_.swapped(); }
  absl::Status Write(std::span<const std::byte> bytes);
  absl::Status WriteText(std::string_view text);
  absl::Status Flush();
  absl::Status FlushCompressed();

  std::string StreamStart(const Sections& sections, const Sections& added) const;

  bool StartStaysAsItIs(const Sections& sections) const;
  void MakeFileStart();
  std::string AuxtraceIndex() const;
  size_t PlaceOfIds(size_t event) const;
  std::string Tail(const Sections& sections);
  std::optional<std::string> ShiftedTail(const Sections& sections);
  void PutU64(size_t offset, uint64_t value);

  const StoredRecording& recording_;
  const OpenedOutput output_;
  const bool stream_;
  std::optional<RecordCompressor> compressor_;
  std::vector<std::byte> buffer_;        // bytes that are not yet written
  std::vector<std::byte> uncompressed_;  // records that are not yet compressed
  uint64_t offset_ = 0;                  // position in the output, buffered bytes included

  // Only for files:
  std::string start_;  // everything before the records
  bool start_is_verbatim_ = false;
  FileHeader header_;                // header, if the start is rebuilt
  std::vector<FileSection> traces_;  // places of AUXTRACE records, without traces
};

}  // namespace profiler::perf_data
