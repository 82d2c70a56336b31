#include "src/format/perf_data/rewrite/rewrite_output.h"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <utility>

#include "src/base/byte_reader.h"
#include "src/format/perf_data/format/field_io.h"
#include "src/format/perf_data/write/stream_writer.h"

namespace profiler::perf_data {
namespace {

constexpr size_t kBufferSize = 1 << 20;
constexpr size_t kCompressAtOnce = 32 << 10;
constexpr size_t kAttrSizeOffset = 4;  // struct perf_event_attr { u32 type, size; … }

void PutNumber(std::string& bytes, size_t offset, auto value, bool swapped) {
  if (swapped) value = SwapBytes(value);
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

bool IsInside(const FileSection& section, uint64_t end) {
  return section.size == 0 || (section.offset <= end && section.size <= end - section.offset);
}

void PadTo8(std::string& text) { text.resize((text.size() + 7) / 8 * 8); }

}  // namespace

size_t SizeOfAll(const std::vector<std::string>& attrs) {
  size_t largest = perf_event::kAttrSizeVer0;
  for (const std::string& attr : attrs) largest = std::max(largest, attr.size());
  return FileAttrSize(largest);
}

std::string SizedAttr(std::string attr, size_t size, bool swapped) {
  attr.resize(size);
  PutNumber(attr, kAttrSizeOffset, static_cast<uint32_t>(size), swapped);
  return attr;
}

// ---- files and streams

absl::Status RewriteOutput::Start(const Sections& sections, const Sections& added) {
  buffer_.reserve(kBufferSize);
  if (stream_) return WriteText(StreamStart(sections, added));
  start_is_verbatim_ = StartStaysAsItIs(sections);
  if (start_is_verbatim_) {
    start_ = TextOf(recording_.file().first(recording_.data().begin));
  } else {
    MakeFileStart();
  }
  return WriteText(start_);
}

absl::Status RewriteOutput::Append(const StoredRecord& record, std::span<const std::byte> payload) {
  const std::span<const std::byte> bytes(record.data, record.header.size);
  if (compressor_.has_value() && record.header.type < perf_event::kRecordUserFirst) {
    uncompressed_.insert(uncompressed_.end(), bytes.begin(), bytes.end());
    return uncompressed_.size() < kCompressAtOnce ? absl::OkStatus() : FlushCompressed();
  }
  PROFILER_RETURN_IF_ERROR(FlushCompressed());
  if (record.header.type == perf_event::kRecordAuxtrace) {
    traces_.push_back({offset_, bytes.size()});
  }
  PROFILER_RETURN_IF_ERROR(Write(bytes));
  return Write(payload);
}

absl::Status RewriteOutput::Finish(Sections sections) {
  PROFILER_RETURN_IF_ERROR(FlushCompressed());
  if (stream_) return Flush();
  if (compressor_.has_value()) sections[kFeatureCompressed] = compressor_->FeatureSection();
  if (!traces_.empty()) sections[kFeatureAuxtrace] = AuxtraceIndex();
  const uint64_t data_end = offset_;
  const std::optional<std::string> shifted = ShiftedTail(sections);
  PROFILER_RETURN_IF_ERROR(WriteText(shifted.has_value() ? *shifted : Tail(sections)));
  PROFILER_RETURN_IF_ERROR(Flush());

  std::bitset<kFeatureBits> bits;
  for (const auto& [bit, section] : sections) bits.set(static_cast<size_t>(bit));
  FileHeader header = start_is_verbatim_ ? recording_.header() : header_;
  const bool same_bits = header.features == bits;
  header.data.size = data_end - start_.size();
  header.features = bits;
  const std::array<std::byte, kFileHeaderSize> encoded = EncodeFileHeader(header);
  if (!start_is_verbatim_) {
    start_.replace(0, encoded.size(), TextOf(encoded));
  } else {
    PutU64(kDataSizeOffset, header.data.size);
    // The layout of these bits depends on the recorder's word size, so if no bit
    // changes, keep them as stored.
    if (!same_bits) {
      start_.replace(kFeatureBitsOffset, kFileHeaderSize - kFeatureBitsOffset,
                     TextOf(encoded).substr(kFeatureBitsOffset));
    }
  }
  return WriteAt(output_.fd.get(), 0, BytesOfText(start_), output_.name);
}

absl::Status RewriteOutput::FlushCompressed() {
  if (uncompressed_.empty()) return absl::OkStatus();
  const absl::Status status = compressor_->Compress(
      uncompressed_, [this](std::span<const std::byte> record) { return Write(record); });
  uncompressed_.clear();
  return status;
}

absl::Status RewriteOutput::WriteText(std::string_view text) { return Write(BytesOfText(text)); }

absl::Status RewriteOutput::Write(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() > kBufferSize) PROFILER_RETURN_IF_ERROR(Flush());
  offset_ += bytes.size();
  if (bytes.size() < kBufferSize) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    return absl::OkStatus();
  }
  uint64_t written = 0;
  return WritePieces(output_.fd.get(), {&bytes, 1}, output_.name, &written);
}

absl::Status RewriteOutput::Flush() {
  const std::span<const std::byte> bytes = buffer_;
  uint64_t written = 0;
  const absl::Status status = WritePieces(output_.fd.get(), {&bytes, 1}, output_.name, &written);
  buffer_.clear();
  return status;
}

// ---- streams

std::string RewriteOutput::StreamStart(const Sections& sections, const Sections& added) const {
  std::string start;
  if (recording_.header().pipe) {
    start = TextOf(recording_.file().first(kPipeHeaderSize));
    if (compressor_.has_value()) {
      AddFeatureRecord(kFeatureCompressed, compressor_->FeatureSection(), swapped(), &start);
    }
    for (const auto& [bit, section] : added) AddSectionRecords(bit, section, swapped(), &start);
    return start;  // the copied records contain the other features
  }
  FieldWriter writer(&start, swapped());
  writer.U64(kMagic2);
  writer.U64(kPipeHeaderSize);
  const std::vector<EventDescription>& events = recording_.events();
  for (size_t i = 0; i < events.size(); ++i) {
    const std::string attr =
        SizedAttr(recording_.attrs()[i], recording_.attrs()[i].size(), swapped());
    const size_t max_ids =
        (perf_event::kMaxRecordSize - sizeof(perf_event::RecordHeader) - attr.size()) / 8;
    std::span<const uint64_t> ids = events[i].ids;
    do {
      const std::span<const uint64_t> some = ids.first(std::min(ids.size(), max_ids));
      ids = ids.subspan(some.size());
      std::string body = attr;
      FieldWriter id_writer(&body, swapped());
      for (const uint64_t id : some) id_writer.U64(id);
      AddRecord(perf_event::kRecordHeaderAttr, 0, body, swapped(), &start);
      AddNameRecord(some.empty() ? 0 : some.front(), events[i].name, swapped(), &start);
    } while (!ids.empty());
  }
  for (std::string_view types = recording_.event_types(); types.size() >= kEventTypeSize;
       types.remove_prefix(kEventTypeSize)) {
    AddRecord(perf_event::kRecordHeaderEventType, 0, types.substr(0, kEventTypeSize), swapped(),
              &start);
  }
  for (const auto& [bit, section] : sections) AddSectionRecords(bit, section, swapped(), &start);
  if (compressor_.has_value()) {
    AddFeatureRecord(kFeatureCompressed, compressor_->FeatureSection(), swapped(), &start);
  }
  return start;
}

// ---- files

// True if everything before the data can be copied, because it points only to bytes before the data
// and has room for the features. (Ids may be behind the data; their offsets are corrected.)
bool RewriteOutput::StartStaysAsItIs(const Sections& sections) const {
  const FileHeader& header = recording_.header();
  if (header.pipe) return false;
  const std::span<const std::byte> file = recording_.file();
  const bool has_bitmap = FieldReader(file.subspan(8), swapped()).U64() == kFileHeaderSize;
  const bool has_features = !sections.empty() || compressor_.has_value();
  const uint64_t begin = recording_.data().begin;
  return begin >= (has_bitmap ? kFileHeaderSize : kFileHeaderSizeWithoutFeatures) &&
         begin == header.data.offset && (has_bitmap || !has_features) &&
         IsInside(header.attrs, begin) && IsInside(header.event_types, begin);
}

// header │ ids of each event │ attr entries │ event types
void RewriteOutput::MakeFileStart() {
  const std::vector<EventDescription>& events = recording_.events();
  const std::vector<std::string>& attrs = recording_.attrs();
  const size_t attr_size = SizeOfAll(attrs);
  std::string entries;
  start_.assign(kFileHeaderSize, '\0');
  for (size_t i = 0; i < events.size(); ++i) {
    FieldWriter entry(&entries, swapped());
    entry.Text(SizedAttr(attrs[i], attr_size, swapped()));
    entry.Section({start_.size(), events[i].ids.size() * sizeof(uint64_t)});
    FieldWriter ids(&start_, swapped());
    for (const uint64_t id : events[i].ids) ids.U64(id);
  }
  header_.swapped = swapped();
  header_.attr_entry_size = attr_size + sizeof(FileSection);
  header_.attrs = {start_.size(), entries.size()};
  start_ += entries;
  if (!recording_.event_types().empty()) {
    header_.event_types = {start_.size(), recording_.event_types().size()};
    start_ += recording_.event_types();
  }
  header_.data.offset = start_.size();
}

// struct { u64 count; struct { u64 file_offset, size; } entries[count]; }
std::string RewriteOutput::AuxtraceIndex() const {
  std::string index;
  FieldWriter writer(&index, swapped());
  writer.U64(traces_.size());
  for (const FileSection& trace : traces_) writer.Section(trace);
  return index;
}

// Returns the offset in `start_` of the event's FileSection of ids, at the end of its attr entry.
size_t RewriteOutput::PlaceOfIds(size_t event) const {
  const FileHeader& header = recording_.header();
  return header.attrs.offset + (event + 1) * header.attr_entry_size - sizeof(FileSection);
}

// Returns everything behind the data with corrected offsets, if the output has the same sections
// with the same sizes. This keeps the gaps that recorders leave.
std::optional<std::string> RewriteOutput::ShiftedTail(const Sections& sections) {
  if (!start_is_verbatim_ || !recording_.data().warning.empty()) return std::nullopt;
  const FileHeader& header = recording_.header();
  const uint64_t data_end = recording_.data().end;
  const uint64_t shift = offset_ - data_end;  // may wrap below 0; adding it is still right
  // A sparse file may be arbitrarily long behind its sections.
  constexpr uint64_t kMostGaps = uint64_t{16} << 20;
  uint64_t most = kMostGaps;
  for (const auto& [bit, section] : sections) most += section.size();
  if (recording_.file().size() - std::min<uint64_t>(data_end, recording_.file().size()) > most) {
    return std::nullopt;
  }
  std::string tail(TextOf(recording_.file().subspan(data_end)));
  const size_t table_size = header.features.count() * sizeof(FileSection);
  if (header.features.count() != sections.size() || tail.size() < table_size) return std::nullopt;
  FieldReader table(BytesOfText(tail), swapped());
  std::string new_table;
  FieldWriter writer(&new_table, swapped());
  std::string payloads = tail;
  for (const auto& [bit, section] : sections) {
    const FileSection place = table.Section();
    const bool inside = place.offset >= data_end + table_size && place.size <= tail.size() &&
                        place.offset - data_end <= tail.size() - place.size;
    if (!header.features[static_cast<size_t>(bit)] || place.size != section.size() || !inside) {
      return std::nullopt;
    }
    payloads.replace(place.offset - data_end, place.size, section);
    writer.Section({place.offset + shift, place.size});
  }
  payloads.replace(0, table_size, new_table);
  // Ids of events may also be behind the data.
  for (size_t i = 0; i < recording_.events().size(); ++i) {
    const size_t place = PlaceOfIds(i);
    FieldReader entry(BytesOfText(start_).subspan(place), swapped());
    const FileSection ids = entry.Section();
    if (ids.size != 0 && ids.offset >= data_end) PutU64(place, ids.offset + shift);
  }
  return payloads;
}

// Returns the table of sections, the sections, and the ids that were behind the data.
std::string RewriteOutput::Tail(const Sections& sections) {
  std::string tail = FeatureSections(sections, offset_, swapped());
  if (!start_is_verbatim_) return tail;
  const std::vector<EventDescription>& events = recording_.events();
  for (size_t i = 0; i < events.size(); ++i) {
    const size_t place = PlaceOfIds(i);
    FieldReader entry(BytesOfText(start_).subspan(place), swapped());
    if (IsInside(entry.Section(), start_.size())) continue;
    PadTo8(tail);
    PutU64(place, offset_ + tail.size());
    PutU64(place + 8, events[i].ids.size() * sizeof(uint64_t));
    FieldWriter ids(&tail, swapped());
    for (const uint64_t id : events[i].ids) ids.U64(id);
  }
  return tail;
}

void RewriteOutput::PutU64(size_t offset, uint64_t value) {
  PutNumber(start_, offset, value, swapped());
}

}  // namespace profiler::perf_data
