#include "src/perf_data/rewrite/stored_recording.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/perf_data/format/feature_values.h"
#include "src/perf_data/read/own_records.h"
#include "src/perf_event/attr_codec.h"

namespace profiler::perf_data {
namespace {

constexpr size_t kHeaderSize = sizeof(perf_event::RecordHeader);

}  // namespace

bool IsHeaderRecord(uint32_t type) {
  return type == perf_event::kRecordHeaderAttr || type == perf_event::kRecordHeaderEventType ||
         type == perf_event::kRecordHeaderFeature || type == perf_event::kRecordHeaderBuildId ||
         type == perf_event::kRecordHeaderTracingData;
}

absl::StatusOr<StoredRecording> StoredRecording::Open(const std::string& path) {
  PROFILER_ASSIGN_OR_RETURN(OpenedFiles opened, OpenFiles(path, PipeUse::kSpool));
  StoredRecording recording(std::move(opened));
  PROFILER_RETURN_IF_ERROR(recording.header().pipe ? recording.ReadStreamHeader()
                                                   : recording.ReadFileHeader());
  return recording;
}

// Several passes come to the same end.
void StoredRecording::Warn(std::string text) {
  text = absl::StrCat(opened_.name, ": ", text);
  if (std::find(warnings_.begin(), warnings_.end(), text) == warnings_.end()) {
    warnings_.push_back(std::move(text));
  }
}

absl::Status StoredRecording::ReadFileHeader() {
  const absl::StatusOr<std::vector<AttrEntry>> entries = DecodeAttrs(file(), header());
  if (!entries.ok()) {
    return absl::DataLossError(absl::StrCat(opened_.name, ": ", entries.status().message()));
  }
  const std::string_view bytes = TextOf(BytesInside(file(), header().attrs));
  const size_t attr_size = header().attr_entry_size - sizeof(FileSection);
  size_t ids_left = file().size() / sizeof(uint64_t);
  for (const AttrEntry& entry : *entries) {
    std::vector<uint64_t> ids = DecodeIds(file(), header(), entry.ids, ids_left);
    ids_left -= ids.size();
    attrs_.emplace_back(bytes.substr(attrs_.size() * header().attr_entry_size, attr_size));
    events_.Add(entry.attr, {}, std::move(ids));
  }
  data_ = LocateData(file(), header());
  if (data_.warning.empty()) {
    const std::vector<FeatureSection> located = LocateFeatures(file(), header(), data_.end);
    for (const FeatureSection& section : located) {
      if (section.whole) sections_[section.bit] = TextOf(section.bytes);
    }
    if (const size_t cut = located.size() - sections_.size(); cut != 0) {
      Warn(absl::StrCat(cut, " of ", located.size(), " feature sections are cut and left out"));
    }
  } else {
    Warn(data_.warning);
  }
  const std::span<const std::byte> types = BytesInside(file(), header().event_types);
  event_types_ = TextOf(types);
  events_.NameByTypes(types);
  if (const auto names = sections_.find(kFeatureEventDesc); names != sections_.end()) {
    events_.NameByDescriptions(DecodeEventDesc(BytesOfText(names->second), swapped()));
  }
  compressed_ = sections_.count(kFeatureCompressed) != 0;
  return absl::OkStatus();
}

absl::Status StoredRecording::ReadStreamHeader() {
  data_ = {kPipeHeaderSize, file().size(), ""};
  PROFILER_RETURN_IF_ERROR(
      ForEach(true, [this](const StoredRecord& record, std::span<const std::byte> payload) {
        TakeStreamRecord(record, payload);
        return absl::OkStatus();
      }));
  compressed_ = sections_.count(kFeatureCompressed) != 0;
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
  const std::span<const std::byte> body = bytes.subspan(kHeaderSize);
  FieldReader reader(body, swapped());
  switch (record.header.type) {
    case perf_event::kRecordHeaderFeature:
      if (const uint64_t bit = reader.U64(); reader.ok() && bit < kFeatureBits) {
        sections_[static_cast<int>(bit)] = TextOf(reader.Bytes(reader.remaining()));
      }
      return;
    case perf_event::kRecordHeaderBuildId: {
      std::string entry(TextOf(bytes));
      std::memset(entry.data(), 0, sizeof(record.header.type));  // as it is in the section
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

absl::Status StoredRecording::ForEach(bool inflate, Visitor visit) {
  reading_ = absl::OkStatus();
  PROFILER_RETURN_IF_ERROR(Walk(0, data_.begin, data_.end, inflate, visit));
  for (size_t i = 1; i < opened_.files.size(); ++i) {
    PROFILER_RETURN_IF_ERROR(Walk(i, 0, opened_.files[i].bytes().size(), inflate, visit));
  }
  return absl::OkStatus();
}

absl::Status StoredRecording::Walk(size_t file, uint64_t begin, uint64_t end, bool inflate,
                                   Visitor visit) {
  ChunkStore chunks;
  RecordWalker walker(
      std::make_unique<MappedSource>(opened_.files[file].bytes(), begin, end),
      header().pipe ? RecordWalker::Start::kOfStream : RecordWalker::Start::kOfRecords, swapped(),
      &chunks);
  if (!inflate) walker.Handle(RecordWalker::Compressed::kKeep);
  StoredRecord record;
  while (walker.Next(&record)) {
    PROFILER_RETURN_IF_ERROR(visit(record, walker.payload()));
    chunks.FreeReleased();
  }
  CutRecord cut_record = CutRecord::kError;
  if (header().pipe || is_directory()) cut_record = CutRecord::kWarning;
  if (!data_.warning.empty()) cut_record = CutRecord::kKnown;
  std::string warning;
  reading_.Update(HowItEnded(walker, opened_.name, cut_record, &warning));
  if (!warning.empty()) Warn(std::move(warning));
  return absl::OkStatus();
}

}  // namespace profiler::perf_data
