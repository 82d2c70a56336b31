#include "src/format/perf_data/read/stored_recording.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/format/perf_data/format/feature_values.h"
#include "src/format/perf_data/format/features_codec.h"
#include "src/format/perf_data/read/byte_source.h"
#include "src/format/perf_data/read/own_records.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/attr_codec.h"

namespace profiler::perf_data {
namespace {

// Number of records at the start of a stream that are searched for events and features.
constexpr size_t kMaxPrereadRecords = 4096;

}  // namespace

absl::StatusOr<std::unique_ptr<StoredRecording>> StoredRecording::Open(const std::string& path,
                                                                       Use use,
                                                                       ForeignReader* foreign) {
  PROFILER_ASSIGN_OR_RETURN(
      OpenedFiles opened,
      OpenFiles(path, use == Use::kRewrite ? PipeUse::kSpool : PipeUse::kStream, foreign));
  return Open(std::move(opened), use);
}

absl::StatusOr<std::unique_ptr<StoredRecording>> StoredRecording::Open(OpenedFiles opened,
                                                                       Use use) {
  std::unique_ptr<StoredRecording> recording(new StoredRecording(std::move(opened), use));
  if (!recording->header().pipe) {
    PROFILER_RETURN_IF_ERROR(recording->ReadFileHeader());
  } else if (use == Use::kRewrite) {
    PROFILER_RETURN_IF_ERROR(recording->ReadWholeStream());
  } else if (recording->streaming()) {
    recording->ReadStreamStart();
  } else {
    recording->ReadStreamAhead();
  }
  if (recording->events_.left_out() != 0) {
    return absl::DataLossError(absl::StrCat(recording->name_, ": it has more than ", kMostEvents,
                                            " events, which is the limit; record fewer "
                                            "events at a time"));
  }
  recording->compressed_ = recording->sections_.count(kFeatureCompressed) != 0;
  return recording;
}

StoredRecording::StoredRecording(OpenedFiles opened, Use use)
    : name_(std::move(opened.name)),
      files_(std::move(opened.files)),
      file_fd_(std::move(opened.file)),
      stream_fd_(std::move(opened.stream)),
      use_(use),
      layout_{opened.header, {}},
      events_(opened.header.swapped) {
  if (header().pipe && !streaming()) data_ = {kPipeHeaderSize, file().size(), ""};
  for (const std::string& warning : opened.warnings) Warn(warning);
}

void StoredRecording::Warn(std::string_view text) {
  warnings_.push_back(absl::StrCat(name_, ": ", absl::string_view(text.data(), text.size())));
}

// ---- a file's header

absl::Status StoredRecording::ReadFileHeader() {
  PROFILER_RETURN_IF_ERROR(ReadEvents());
  data_ = LocateData(file(), header());
  is_incomplete_ = !data_.warning.empty();
  if (is_incomplete_) Warn(data_.warning);
  const std::span<const std::byte> types = BytesInside(file(), header().event_types);
  events_.NameByTypes(types);
  if (use_ == Use::kRewrite) event_types_ = TextOf(types);
  if (data_.warning.empty()) ReadFeatures();
  warnings_of_open_ = warnings_.size();
  return absl::OkStatus();
}

absl::Status StoredRecording::ReadEvents() {
  const absl::StatusOr<std::vector<AttrEntry>> entries = DecodeAttrs(file(), header());
  if (!entries.ok()) {
    return absl::DataLossError(absl::StrCat(name_, ": ", entries.status().message()));
  }
  const std::string_view bytes = TextOf(BytesInside(file(), header().attrs));
  // Number of ids that may still be read. Limited, because many entries may point at the same ids.
  size_t ids_left = file().size() / sizeof(uint64_t);
  bool unknown_tail = false;
  for (const AttrEntry& entry : *entries) {
    unknown_tail |= entry.unknown_tail.find_first_not_of('\0') != std::string::npos;
    std::vector<uint64_t> ids = DecodeIds(file(), header(), entry.ids, ids_left);
    ids_left -= ids.size();
    events_.Add(entry.attr, {}, std::move(ids));
    if (use_ == Use::kRewrite) {
      attrs_.emplace_back(bytes.substr(attrs_.size() * header().attr_entry_size,
                                       header().attr_entry_size - sizeof(FileSection)));
    }
  }
  if (unknown_tail && use_ == Use::kRead) {
    Warn("its events have settings of a newer kernel, which are ignored");
  }
  return absl::OkStatus();
}

void StoredRecording::ReadFeatures() {
  size_t unreadable = 0;
  const std::vector<FeatureSection> sections = LocateFeatures(file(), header(), data_.end);
  for (const FeatureSection& section : sections) {
    if (section.whole || section.place.offset != 0) {
      layout_.sections.push_back({section.bit, section.place});
    }
    bool readable = section.whole;
    if (readable && section.bit == kFeatureEventDesc) {
      events_.NameByDescriptions(DecodeEventDesc(section.bytes, swapped()));
    } else if (readable && use_ == Use::kRead) {
      readable = DecodeFeature(section.bit, section.bytes, swapped(), &features_);
    }
    if (readable && use_ == Use::kRewrite) sections_[section.bit] = TextOf(section.bytes);
    unreadable += !readable;
  }
  if (unreadable == 0) return;
  Warn(absl::StrCat(unreadable, " of ", sections.size(), " feature sections ",
                    use_ == Use::kRead ? "cannot be read" : "are cut and left out"));
}

// ---- a stream's records

// Reads the records before the first kernel record, so that a view knows the events of a pipe from
// the start.
void StoredRecording::ReadStreamStart() {
  stream_walker_ = WalkerOf(0, &stream_chunks_);
  StoredRecord record;
  for (size_t i = 0; i < kMaxPrereadRecords && stream_walker_->Next(&record); ++i) {
    preread_.push_back({record, stream_walker_->payload()});
    if (record.header.type < perf_event::kRecordUserFirst) break;
    CollectOwn(record, stream_walker_->payload());
  }
}

// Reads a stream in a regular file ahead, because views need names and build-ids before the
// samples, but the file has them after the samples. Takes events only from the records before the
// first kernel record, because a later record renames an event only for the samples after it.
// Ignores errors; the pass that visits the records reports them.
void StoredRecording::ReadStreamAhead() {
  EventTable later(swapped());
  bool is_front = true;
  (void)ForEachStored(true, [&](const StoredRecord& record, std::span<const std::byte> payload) {
    is_front = is_front && record.header.type >= perf_event::kRecordUserFirst;
    if (is_front) {
      CollectOwn(record, payload);
    } else if (record.header.type >= perf_event::kRecordUserFirst) {
      CollectOwnRecord(record, payload, swapped(), false, &later, &features_);
    }
    return absl::OkStatus();
  });
  warnings_.clear();
}

void StoredRecording::CollectOwn(const StoredRecord& record, std::span<const std::byte> payload) {
  ++collected_;
  CollectOwnRecord(record, payload, swapped(), false, &events_, &features_);
}

absl::Status StoredRecording::ReadWholeStream() {
  PROFILER_RETURN_IF_ERROR(
      ForEachStored(true, [this](const StoredRecord& record, std::span<const std::byte> payload) {
        TakeStreamRecord(record, payload);
        return absl::OkStatus();
      }));
  if (const auto topology = sections_.find(kFeatureCpuTopology); topology != sections_.end()) {
    FieldReader cpus(BytesOfText(sections_[kFeatureNrcpus]), swapped());
    const uint32_t cpu_count = cpus.U32();
    topology->second.resize(CpuTopologySize(BytesOfText(topology->second), cpu_count, swapped()));
    if (!cpus.ok()) sections_.erase(kFeatureNrcpus);
  }
  return absl::OkStatus();
}

void StoredRecording::TakeStreamRecord(const StoredRecord& record,
                                       std::span<const std::byte> payload) {
  if (record.header.type < perf_event::kRecordUserFirst) return;
  const std::span<const std::byte> bytes(record.data, record.header.size);
  const std::span<const std::byte> body = bytes.subspan(sizeof(record.header));
  FieldReader reader(body, swapped());
  switch (record.header.type) {
    case perf_event::kRecordHeaderFeature:
      if (const uint64_t bit = reader.U64();
          reader.ok() && bit < kFeatureBits && !IsEndOfFeatures(bit, reader.remaining())) {
        sections_[static_cast<int>(bit)] = TextOf(reader.Bytes(reader.remaining()));
      }
      return;
    case perf_event::kRecordHeaderBuildId: {
      std::string entry(TextOf(bytes));
      std::memset(entry.data(), 0, sizeof(record.header.type));  // sections have type 0 there
      sections_[kFeatureBuildId] += entry;
      return;
    }
    case perf_event::kRecordHeaderTracingData:
      sections_[kFeatureTracingData] =
          TextOf(payload).substr(0, std::min<size_t>(payload.size(), reader.U32()));
      return;
    case perf_event::kRecordHeaderEventType:
      if (reader.U64() == kCarrierConfig) {
        CollectCarriedSection(body, swapped(), &sections_);
      } else {
        event_types_ += TextOf(body.first(std::min(body.size(), kEventTypeSize)));
      }
      break;
    case perf_event::kRecordHeaderAttr:
      if (const auto attr = perf_event::ReadAttr(body, swapped()); attr.ok()) {
        attrs_.emplace_back(TextOf(body.first(attr->bytes)));
      }
      break;
    default:
      break;
  }
  Features ignored;
  CollectOwnRecord(record, {}, swapped(), false, &events_, &ignored);
}

// ---- records

std::unique_ptr<RecordWalker> StoredRecording::WalkerOf(size_t file, ChunkStore* chunks) const {
  std::unique_ptr<ByteSource> source;
  if (streaming()) {
    source = std::make_unique<StreamSource>(stream_fd_.get(), kPipeHeaderSize, chunks, name_);
  } else {
    const std::span<const std::byte> bytes = files_[file].bytes();
    source = file == 0 ? std::make_unique<MappedSource>(bytes, data_.begin, data_.end)
                       : std::make_unique<MappedSource>(bytes, 0, bytes.size());
  }
  return std::make_unique<RecordWalker>(
      std::move(source),
      header().pipe ? RecordWalker::Start::kOfStream : RecordWalker::Start::kOfRecords, swapped(),
      chunks);
}

absl::Status StoredRecording::Ended(const RecordWalker& walker) {
  CutRecord cut_record = CutRecord::kError;
  if (header().pipe || is_directory()) cut_record = CutRecord::kWarning;
  if (!data_.warning.empty()) cut_record = CutRecord::kKnown;
  std::string warning;
  absl::Status status = HowItEnded(walker, name_, cut_record, &warning);
  if (!warning.empty()) {
    is_incomplete_ = true;
    Warn(warning);
  }
  return status;
}

absl::Status StoredRecording::ForEachStored(bool inflate, StoredVisitor visit) {
  warnings_.resize(warnings_of_open_);
  reading_ = absl::OkStatus();
  for (size_t i = 0; i < files_.size(); ++i) {
    ChunkStore chunks;
    const std::unique_ptr<RecordWalker> walker = WalkerOf(i, &chunks);
    if (!inflate) walker->Handle(RecordWalker::Compressed::kKeep);
    StoredRecord record;
    while (walker->Next(&record)) {
      PROFILER_RETURN_IF_ERROR(visit(record, walker->payload()));
      chunks.FreeReleased();
    }
    reading_.Update(Ended(*walker));
  }
  return absl::OkStatus();
}

absl::Status StoredRecording::Pass(Order order, const Window& window, Visitor visit) {
  warnings_.resize(warnings_of_open_);
  const uint64_t unknown_ids_before = events_.unknown_ids();
  ChunkStore own_chunks;
  ChunkStore* const chunks = streaming() ? &stream_chunks_ : &own_chunks;
  PassContext context;
  context.events = &events_;
  Features again;  // unused: the features were read when the file was opened
  context.features = header().pipe && !streaming() ? &again : &features_;
  context.chunks = chunks;
  context.files = &files_;
  if (files_.size() == 1) context.readable_file = file_fd_.get();
  context.swapped = swapped();
  context.events_known = !header().pipe;
  context.has_rounds = !is_directory();
  context.collected = &collected_;
  context.window = window;
  RecordPass pass(context, order, visit);
  absl::Status status = streaming() ? RunStream(pass) : RunFiles(pass, chunks);
  pass.Finish();
  if (const uint64_t unknown = events_.unknown_ids() - unknown_ids_before; unknown != 0) {
    Warn(absl::StrCat(unknown, " records have an id that no event has; they count for ",
                      events().empty() ? "no event" : events().front().name));
  }
  if (events_.left_out() != 0) {
    Warn(absl::StrCat(events_.left_out(), " events are left out: no more than ", kMostEvents,
                      " are read"));
  }
  if (pass.gave_order_up()) {
    Warn("too much was compressed without a round's end: records may be out of time order");
  }
  if (events().empty() && warnings_.empty() && status.ok()) Warn("it has no events");
  return status;
}

absl::Status StoredRecording::RunFiles(RecordPass& pass, ChunkStore* chunks) {
  absl::Status first_error;
  for (size_t i = 0; i < files_.size(); ++i) {
    const std::unique_ptr<RecordWalker> walker = WalkerOf(i, chunks);
    pass.Run(*walker);
    if (pass.stopped()) break;
    first_error.Update(Ended(*walker));
  }
  return first_error;
}

absl::Status StoredRecording::RunStream(RecordPass& pass) {
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

// ---- Recording

bool CanBeReadAgain(const std::string& path) {
  struct stat file = {};
  return path != "-" && stat(path.c_str(), &file) == 0 &&
         (S_ISREG(file.st_mode) || S_ISDIR(file.st_mode));
}

bool BeginsAsRecording(const std::string& path) {
  const auto file = MappedFile::OpenOwn(path);
  return file.ok() && HasMagic(file->bytes());
}

absl::StatusOr<std::unique_ptr<Recording>> Recording::Open(const std::string& path,
                                                           ForeignReader* foreign) {
  return StoredRecording::Open(path, StoredRecording::Use::kRead, foreign);
}

absl::StatusOr<std::unique_ptr<Recording>> Recording::OpenFile(int fd, const std::string& name) {
  PROFILER_ASSIGN_OR_RETURN(OpenedFiles opened, perf_data::OpenFile(fd, name));
  return StoredRecording::Open(std::move(opened), StoredRecording::Use::kRead);
}

}  // namespace profiler::perf_data
