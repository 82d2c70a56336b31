// Implements Recording, for both layouts, and also gives access to the stored bytes, for Rewrite.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/base/mapped_file.h"
#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/format/perf_data/format/file_header.h"
#include "src/format/perf_data/read/chunk_store.h"
#include "src/format/perf_data/read/event_table.h"
#include "src/format/perf_data/read/opened_files.h"
#include "src/format/perf_data/read/record_pass.h"
#include "src/format/perf_data/read/record_walker.h"
#include "src/format/perf_data/read/recording.h"

namespace profiler::perf_data {

// The feature sections of a recording, by feature bit, as stored in files.
using Sections = std::map<int, std::string>;

// A recording. Not thread-safe.
class StoredRecording final : public Recording {
 public:
  // The purpose of opening a recording.
  enum class Use {
    kRead,     // records in native byte order: the interface of Recording
    kRewrite,  // stored bytes: all functions of this class except features()
  };
  // Opens a path. Errors: those of Recording::Open. With kRewrite, a stream is read to its end
  // here, and a stream from a pipe is first copied to an unnamed temporary file.
  static absl::StatusOr<std::unique_ptr<StoredRecording>> Open(const std::string& path, Use use,
                                                               ForeignReader* foreign = nullptr);
  // Opens a recording whose files are open. Error: kDataLoss.
  static absl::StatusOr<std::unique_ptr<StoredRecording>> Open(OpenedFiles opened, Use use);

  const std::vector<EventDescription>& events() const override { return events_.events(); }
  const Features& features() const override { return features_; }
  const FileLayout& layout() const override { return layout_; }
  const std::vector<std::string>& warnings() const override { return warnings_; }

  // ---- Stored bytes, of a recording that was opened with kRewrite.

  const FileHeader& header() const { return layout_; }
  bool swapped() const { return layout_.swapped; }
  bool is_directory() const { return files_.size() > 1; }
  bool is_compressed() const { return compressed_; }
  // Returns the bytes of the file. For a truncated or corrupt stream, returns the bytes of its
  // readable part.
  std::span<const std::byte> file() const { return files_.front().bytes(); }
  const DataPlace& data() const { return data_; }

  // Returns each event's attr, with as many bytes as its entry or record has.
  const std::vector<std::string>& attrs() const { return attrs_; }
  EventTable& event_table() { return events_; }
  // Returns the feature sections. For a stream they are made from its records, including BUILD_ID
  // and TRACING_DATA.
  const Sections& sections() const { return sections_; }
  // Returns the table of event types of old recordings, as stored in files.
  const std::string& event_types() const { return event_types_; }

  // Visits all records in the order of the file. If `visit` fails, stops and returns its error. If
  // `inflate` is true, visits the records inside compressed records instead of the compressed
  // records. Afterwards reading() is the error that ended the reading early, and warnings()
  // mentions an incomplete last record.
  using StoredVisitor =
      absl::FunctionRef<absl::Status(const StoredRecord&, std::span<const std::byte> payload)>;
  absl::Status ForEachStored(bool inflate, StoredVisitor visit);
  const absl::Status& reading() const { return reading_; }

 private:
  struct Preread {
    StoredRecord record;
    std::span<const std::byte> payload;
  };

  StoredRecording(OpenedFiles opened, Use use);

  absl::Status ReadFileHeader();
  absl::Status ReadEvents();
  void ReadFeatures();
  void ReadStreamStart();
  void ReadStreamAhead();
  void CollectOwn(const StoredRecord& record, std::span<const std::byte> payload);
  absl::Status ReadWholeStream();
  void TakeStreamRecord(const StoredRecord& record, std::span<const std::byte> payload);

  absl::Status Pass(Order order, const Window& window, Visitor visit) override;
  absl::Status RunFiles(RecordPass& pass, ChunkStore* chunks);
  absl::Status RunStream(RecordPass& pass);

  bool streaming() const { return stream_fd_.valid(); }
  std::unique_ptr<RecordWalker> WalkerOf(size_t file, ChunkStore* chunks) const;
  absl::Status Ended(const RecordWalker& walker);
  void Warn(std::string_view text);

  const std::string name_;
  const std::vector<MappedFile> files_;
  const UniqueFd file_fd_;  // descriptor of the only file, if it is kept
  const UniqueFd stream_fd_;
  const Use use_;
  FileLayout layout_;
  DataPlace data_;  // in files_.front(); further files have only records
  EventTable events_;
  Features features_;
  std::vector<std::string> warnings_;
  size_t warnings_of_open_ = 0;
  uint64_t collected_ = 0;  // number of perf's own records whose content is collected

  // Only for a pipe:
  ChunkStore stream_chunks_;
  std::unique_ptr<RecordWalker> stream_walker_;
  std::vector<Preread> preread_;

  // Only for kRewrite:
  std::vector<std::string> attrs_;
  Sections sections_;
  std::string event_types_;
  bool compressed_ = false;
  absl::Status reading_;
};

}  // namespace profiler::perf_data
