// The one implementation of Recording: what its header says, in either layout, and its records. For
// whoever writes a recording anew it also has the bytes as they stand.

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
#include "src/perf_data/format/file_header.h"
#include "src/perf_data/read/chunk_store.h"
#include "src/perf_data/read/event_table.h"
#include "src/perf_data/read/opened_files.h"
#include "src/perf_data/read/record_pass.h"
#include "src/perf_data/read/record_walker.h"
#include "src/perf_data/read/recording.h"

namespace profiler::perf_data {

// The feature sections of a recording, by feature bit, as they stand in files.
using Sections = std::map<int, std::string>;

// Not thread-safe.
class StoredRecording final : public Recording {
 public:
  // What a recording is opened for.
  enum class Use {
    kRead,     // its records in native byte order: all that Recording has
    kRewrite,  // its bytes as they stand: all below, and no features()
  };
  // Errors: those of Recording::Open. For kRewrite a stream is read to its end here, and one that
  // comes through a pipe is put into an unnamed temporary file first.
  static absl::StatusOr<std::unique_ptr<StoredRecording>> Open(const std::string& path, Use use,
                                                               ForeignReader* foreign = nullptr);
  // Of files that are open. Errors: kDataLoss.
  static absl::StatusOr<std::unique_ptr<StoredRecording>> Open(OpenedFiles opened, Use use);

  const std::vector<EventDescription>& events() const override { return events_.events(); }
  const Features& features() const override { return features_; }
  const FileLayout& layout() const override { return layout_; }
  const std::vector<std::string>& warnings() const override { return warnings_; }

  // ---- The bytes as they stand, of a recording that was opened for kRewrite.

  const FileHeader& header() const { return layout_; }
  bool swapped() const { return layout_.swapped; }
  bool is_directory() const { return files_.size() > 1; }
  bool is_compressed() const { return compressed_; }
  // Of a stream that was cut or is corrupt: what of it is readable.
  std::span<const std::byte> file() const { return files_.front().bytes(); }
  const DataPlace& data() const { return data_; }

  // By event: the attr, as many bytes as its entry or record has.
  const std::vector<std::string>& attrs() const { return attrs_; }
  EventTable& event_table() { return events_; }
  // Of streams: what the records say, BUILD_ID and TRACING_DATA too.
  const Sections& sections() const { return sections_; }
  // The table of event types of old recordings, as it stands in files.
  const std::string& event_types() const { return event_types_; }

  // Visits all records in the order of the file, those inside of compressed ones (`inflate`) or
  // these themselves, until `visit` fails. Returns its error; what ended the reading early is
  // reading() then, and cut ends are in warnings().
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

  absl::Status Pass(Order order, Visitor visit) override;
  absl::Status RunFiles(RecordPass& pass, ChunkStore* chunks);
  absl::Status RunStream(RecordPass& pass);

  bool streaming() const { return stream_fd_.valid(); }
  std::unique_ptr<RecordWalker> WalkerOf(size_t file, ChunkStore* chunks) const;
  absl::Status Ended(const RecordWalker& walker);
  void Warn(std::string_view text);

  const std::string name_;
  const std::vector<MappedFile> files_;
  const UniqueFd stream_fd_;
  const Use use_;
  FileLayout layout_;
  DataPlace data_;  // of files_.front(); further files hold nothing but records
  EventTable events_;
  Features features_;
  std::vector<std::string> warnings_;
  size_t warnings_of_open_ = 0;
  uint64_t collected_ = 0;  // records of perf's own whose words are in events_ and features_

  // Of a pipe:
  ChunkStore stream_chunks_;
  std::unique_ptr<RecordWalker> stream_walker_;
  std::vector<Preread> preread_;

  // For kRewrite:
  std::vector<std::string> attrs_;
  Sections sections_;
  std::string event_types_;
  bool compressed_ = false;
  absl::Status reading_;
};

}  // namespace profiler::perf_data
