#include "src/perf_data/read/recording.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/mapped_file.h"
#include "src/base/unique_fd.h"
#include "src/perf_data/format/features_codec.h"
#include "src/perf_data/format/file_header.h"
#include "src/perf_data/read/byte_source.h"
#include "src/perf_data/read/chunk_store.h"
#include "src/perf_data/read/event_table.h"
#include "src/perf_data/read/opened_files.h"
#include "src/perf_data/read/own_records.h"
#include "src/perf_data/read/record_pass.h"
#include "src/perf_data/read/record_walker.h"
#include "src/perf_event/abi.h"

namespace profiler::perf_data {
namespace {

// How many records at the start of a stream are looked at for events and features.
constexpr size_t kMaxPrereadRecords = 4096;

FileLayout LayoutOf(const FileHeader& header) {
  const auto section = [](const FileSection& from) {
    return FileLayout::Section{from.offset, from.size};
  };
  return {.version = header.version,
          .swapped = header.swapped,
          .pipe = header.pipe,
          .attr_entry_size = header.attr_entry_size,
          .attrs = section(header.attrs),
          .data = section(header.data),
          .event_types = section(header.event_types),
          .features = {}};
}

class OpenRecording final : public Recording {
 public:
  explicit OpenRecording(OpenedFiles opened)
      : name_(std::move(opened.name)),
        files_(std::move(opened.files)),
        stream_fd_(std::move(opened.stream)),
        header_(opened.header),
        events_(opened.header.swapped),
        layout_(LayoutOf(opened.header)) {}

  // Exactly one of these, first.
  absl::Status ReadFileHeader();
  void ReadMappedStreamStart();
  void ReadPipeStart(uint64_t offset);

  const std::vector<EventDescription>& events() const override { return events_.events(); }
  const Features& features() const override { return features_; }
  const FileLayout& layout() const override { return layout_; }
  const std::vector<std::string>& warnings() const override { return warnings_; }

 private:
  absl::Status Pass(Order order, Visitor visit) override;

  // Records of one file: [begin, end) of files_[file].
  struct Part {
    size_t file = 0;
    uint64_t begin = 0, end = 0;
  };
  struct Preread {
    StoredRecord record;
    std::span<const std::byte> payload;
  };

  std::span<const std::byte> file() const { return files_.front().bytes(); }
  void Warn(std::string text) { warnings_.push_back(absl::StrCat(name_, ": ", text)); }

  absl::Status ReadEvents();
  void ReadFeatures(uint64_t table_offset);
  void NameEvents();
  Part FindData();
  void Collect(RecordWalker& walker, std::vector<Preread>* preread);
  PassContext Context(ChunkStore* chunks);
  absl::Status Ended(const RecordWalker& walker);
  absl::Status RunFiles(RecordPass& pass, ChunkStore* chunks);
  absl::Status RunStream(RecordPass& pass);

  const std::string name_;
  std::vector<MappedFile> files_;
  const UniqueFd stream_fd_;
  const FileHeader header_;
  EventTable events_;
  Features features_;
  FileLayout layout_;
  std::vector<Part> parts_;
  bool cut_ = false;  // the end is missing, which has been said
  std::vector<std::string> warnings_;
  size_t warnings_of_open_ = 0;
  uint64_t collected_ = 0;

  // Of a pipe:
  ChunkStore stream_chunks_;
  std::unique_ptr<RecordWalker> stream_walker_;
  std::vector<Preread> preread_;
};

absl::Status OpenRecording::ReadFileHeader() {
  PROFILER_RETURN_IF_ERROR(ReadEvents());
  parts_.push_back(FindData());
  if (!cut_) ReadFeatures(parts_.front().end);
  NameEvents();
  // A directory: its further files hold nothing but records.
  for (size_t i = 1; i < files_.size(); ++i) parts_.push_back({i, 0, files_[i].bytes().size()});
  warnings_of_open_ = warnings_.size();
  return absl::OkStatus();
}

absl::Status OpenRecording::ReadEvents() {
  absl::StatusOr<std::vector<AttrEntry>> entries = DecodeAttrs(file(), header_);
  if (!entries.ok()) {
    return absl::DataLossError(absl::StrCat(name_, ": ", entries.status().message()));
  }
  size_t ids_left = file().size() / sizeof(uint64_t);  // entries may point at the same ids
  bool unknown_tail = false;
  for (const AttrEntry& entry : *entries) {
    unknown_tail |= entry.unknown_tail.find_first_not_of('\0') != std::string::npos;
    std::vector<uint64_t> ids = DecodeIds(file(), header_, entry.ids, ids_left);
    ids_left -= ids.size();
    events_.Add(entry.attr, {}, std::move(ids));
  }
  if (unknown_tail) Warn("its events have settings of a newer kernel, which are ignored");
  return absl::OkStatus();
}

OpenRecording::Part OpenRecording::FindData() {
  const DataPlace data = LocateData(file(), header_);
  cut_ = !data.warning.empty();
  if (cut_) Warn(data.warning);
  return {0, data.begin, data.end};
}

void OpenRecording::ReadFeatures(uint64_t table_offset) {
  size_t unreadable = 0;
  const std::vector<FeatureSection> sections = LocateFeatures(file(), header_, table_offset);
  for (const FeatureSection& section : sections) {
    if (section.whole || section.place.offset != 0) {
      layout_.features.push_back({section.bit, {section.place.offset, section.place.size}});
    }
    if (!section.whole || !DecodeFeature(section.bit, section.bytes, header_.swapped, &features_)) {
      ++unreadable;
    }
  }
  if (unreadable != 0) {
    Warn(absl::StrCat(unreadable, " of ", sections.size(), " feature sections cannot be read"));
  }
}

// From EVENT_DESC, and in old files from the table of event types.
void OpenRecording::NameEvents() {
  events_.NameByTypes(BytesInside(file(), header_.event_types));
  const auto section = features_.other.find(kFeatureEventDesc);
  if (section == features_.other.end()) return;
  events_.NameByDescriptions(DecodeEventDesc(BytesOfText(section->second), header_.swapped));
  features_.other.erase(section);
}

void OpenRecording::ReadMappedStreamStart() {
  cut_ = false;
  parts_.push_back({0, kPipeHeaderSize, file().size()});
  ChunkStore chunks;
  RecordWalker walker(std::make_unique<MappedSource>(file(), kPipeHeaderSize, file().size()),
                      RecordWalker::Start::kOfStream, header_.swapped, &chunks);
  Collect(walker, nullptr);
}

void OpenRecording::ReadPipeStart(uint64_t offset) {
  stream_walker_ = std::make_unique<RecordWalker>(
      std::make_unique<StreamSource>(stream_fd_.get(), offset, &stream_chunks_, name_),
      RecordWalker::Start::kOfStream, header_.swapped, &stream_chunks_);
  Collect(*stream_walker_, &preread_);
}

// What a stream says in front of its first kernel record, so that events() and features() are there
// from the start.
void OpenRecording::Collect(RecordWalker& walker, std::vector<Preread>* preread) {
  StoredRecord record;
  for (size_t i = 0; i < kMaxPrereadRecords && walker.Next(&record); ++i) {
    if (preread != nullptr) preread->push_back({record, walker.payload()});
    if (record.header.type < perf_event::kRecordUserFirst) return;
    ++collected_;
    CollectOwnRecord(record, walker.payload(), header_.swapped, false, &events_, &features_);
  }
}

PassContext OpenRecording::Context(ChunkStore* chunks) {
  PassContext context;
  context.events = &events_;
  context.features = &features_;
  context.chunks = chunks;
  context.files = &files_;
  context.swapped = header_.swapped;
  context.events_known = !header_.pipe;
  context.has_rounds = files_.size() <= 1;
  context.collected = &collected_;
  return context;
}

absl::Status OpenRecording::Pass(Order order, Visitor visit) {
  warnings_.resize(warnings_of_open_);
  const uint64_t unknown_ids_before = events_.unknown_ids();
  ChunkStore own_chunks;
  const bool streaming = stream_fd_.valid();
  ChunkStore* const chunks = streaming ? &stream_chunks_ : &own_chunks;
  RecordPass pass(Context(chunks), order, visit);
  absl::Status status = streaming ? RunStream(pass) : RunFiles(pass, chunks);
  pass.Finish();
  if (const uint64_t unknown = events_.unknown_ids() - unknown_ids_before; unknown != 0) {
    Warn(absl::StrCat(unknown, " records have an id that no event has; they count for ",
                      events().empty() ? "no event" : events().front().name));
  }
  if (pass.gave_order_up()) {
    Warn("too much was compressed without a round's end: records may be out of time order");
  }
  if (events().empty() && warnings_.empty() && status.ok()) Warn("it has no events");
  return status;
}

absl::Status OpenRecording::RunFiles(RecordPass& pass, ChunkStore* chunks) {
  absl::Status first_error;
  for (const Part& part : parts_) {
    RecordWalker walker(
        std::make_unique<MappedSource>(files_[part.file].bytes(), part.begin, part.end),
        header_.pipe ? RecordWalker::Start::kOfStream : RecordWalker::Start::kOfRecords,
        header_.swapped, chunks);
    pass.Run(walker);
    if (pass.stopped()) break;
    first_error.Update(Ended(walker));
  }
  return first_error;
}

absl::Status OpenRecording::RunStream(RecordPass& pass) {
  if (stream_walker_ == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(name_, ": a pipe can be read once"));
  }
  for (const Preread& preread : preread_) pass.Take(preread.record, preread.payload);
  preread_.clear();
  pass.Run(*stream_walker_);
  absl::Status status = pass.stopped() ? absl::OkStatus() : Ended(*stream_walker_);
  stream_walker_.reset();
  return status;
}

absl::Status OpenRecording::Ended(const RecordWalker& walker) {
  CutRecord cut_record = CutRecord::kError;
  if (header_.pipe || files_.size() > 1) cut_record = CutRecord::kWarning;
  if (cut_) cut_record = CutRecord::kKnown;
  std::string warning;
  absl::Status status = HowItEnded(walker, name_, cut_record, &warning);
  if (!warning.empty()) Warn(std::move(warning));
  return status;
}

}  // namespace

bool BeginsAsRecording(const std::string& path) {
  const auto file = MappedFile::Open(path);
  return file.ok() && HasMagic(file->bytes());
}

absl::StatusOr<std::unique_ptr<Recording>> Recording::Open(const std::string& path) {
  PROFILER_ASSIGN_OR_RETURN(OpenedFiles opened, OpenFiles(path, PipeUse::kStream));
  const bool pipe = opened.stream.valid();
  const bool stream_layout = opened.header.pipe;
  auto recording = std::make_unique<OpenRecording>(std::move(opened));
  if (pipe) {
    recording->ReadPipeStart(kPipeHeaderSize);
  } else if (stream_layout) {
    recording->ReadMappedStreamStart();
  } else {
    PROFILER_RETURN_IF_ERROR(recording->ReadFileHeader());
  }
  return recording;
}

}  // namespace profiler::perf_data
