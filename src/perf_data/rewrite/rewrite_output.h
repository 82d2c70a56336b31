// Puts a stored recording's bytes into a file or a stream, in the recording's own byte order.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/perf_data/read/stored_recording.h"
#include "src/perf_data/write/record_compressor.h"
#include "src/perf_data/write/write_pieces.h"

namespace profiler::perf_data {

// The size that all of `attrs` get in a file.
size_t SizeOfAll(const std::vector<std::string>& attrs);

// The attr with `size` bytes, which its size field says too.
std::string SizedAttr(std::string attr, size_t size, bool swapped);

// Not thread-safe. Start, then Append, then Finish.
class RewriteOutput {
 public:
  // `recording` must outlive this.
  RewriteOutput(const StoredRecording& recording, OpenedOutput output, bool as_stream)
      : recording_(recording), output_(std::move(output)), stream_(as_stream || output_.stream) {}

  bool stream() const { return stream_; }
  // From now on the kernel's records are compressed.
  void CompressWith(RecordCompressor compressor) { compressor_.emplace(std::move(compressor)); }

  // What is in front of the records. Of `sections`, a stream has all here, a file has none yet: it
  // takes them in Finish, so that they may say what became of the records. A stream that comes of a
  // stream has only those of them that are `added`: its records bring the others.
  absl::Status Start(const Sections& sections, const Sections& added);

  // A record, as it stands, and what follows it.
  absl::Status Append(const StoredRecord& record, std::span<const std::byte> payload);

  // What is behind the records, and what the header says of it.
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
  std::vector<std::byte> buffer_;        // not yet written
  std::vector<std::byte> uncompressed_;  // not yet compressed
  uint64_t offset_ = 0;                  // of the output, what is buffered included

  // Of files:
  std::string start_;  // all in front of the records
  bool start_is_verbatim_ = false;
  FileHeader header_;                // of a start that was made anew
  std::vector<FileSection> traces_;  // AUXTRACE records, without their traces
};

}  // namespace profiler::perf_data
