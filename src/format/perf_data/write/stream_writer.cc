#include "src/format/perf_data/write/stream_writer.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/format/perf_data/format/features_codec.h"
#include "src/format/perf_data/format/field_io.h"
#include "src/format/perf_data/format/file_header.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/write/write_pieces.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/codec.h"

namespace profiler::perf_data {
namespace {

constexpr size_t kHeaderSize = sizeof(perf_event::RecordHeader);

class StreamWriter final : public Writer {
 public:
  StreamWriter(std::string name, UniqueFd fd, std::vector<EventToWrite> events,
               StreamListener on_stream)
      : name_(std::move(name)),
        fd_(std::move(fd)),
        events_(std::move(events)),
        on_stream_(std::move(on_stream)) {
    std::vector<perf_event::Attr> attrs;
    for (const EventToWrite& event : events_) attrs.push_back(event.attr);
    attr_size_ = CommonAttrSize(attrs);
  }

  absl::Status WriteStart() {
    std::string start;
    FieldWriter writer(&start);
    writer.U64(kMagic2);
    writer.U64(kPipeHeaderSize);
    for (const EventToWrite& event : events_) AddEvent(event, event.ids, &start);
    return WriteText(start);
  }

  absl::Status AddIds(size_t event, std::span<const uint64_t> ids) override {
    if (event >= events_.size()) {
      return absl::InvalidArgumentError(absl::StrCat("no event ", event));
    }
    if (events_.size() == 1) return absl::OkStatus();
    std::string records;
    AddEvent(events_[event], ids, &records);
    return WriteText(records);
  }

  absl::Status Append(std::span<const std::span<const std::byte>> pieces) override {
    appended_ = true;
    return Write(pieces);
  }

  absl::Status FinishRound() override {
    if (!appended_) return absl::OkStatus();
    std::string marker;
    AddRecord(perf_event::kRecordFinishedRound, 0, {}, false, &marker);
    appended_ = false;
    return WriteText(marker);
  }

  absl::Status Finish(const Features& features) override {
    PROFILER_RETURN_IF_ERROR(FinishRound());
    std::string records;
    for (const auto& [bit, section] : EncodeFeatures(features)) {
      AddSectionRecords(bit, section, false, &records);
    }
    return WriteText(records);
  }

  absl::Status AppendSection(int bit, std::string_view section) override {
    std::string records;
    AddSectionRecords(bit, section, false, &records);
    return WriteText(records);
  }

  int readable_file() const override { return -1; }

  uint64_t bytes_written() const override { return written_; }

 private:
  // Appends HEADER_ATTR and the event's name, and further HEADER_ATTR if there are more ids than
  // fit.
  void AddEvent(const EventToWrite& event, std::span<const uint64_t> ids, std::string* out) {
    const size_t max_ids = (perf_event::kMaxRecordSize - kHeaderSize - attr_size_) / 8;
    do {
      const std::span<const uint64_t> some = ids.first(std::min(ids.size(), max_ids));
      ids = ids.subspan(some.size());
      std::string body;
      WriteSizedAttr(event.attr, attr_size_, &body);
      for (uint64_t id : some) FieldWriter(&body).U64(id);
      AddRecord(perf_event::kRecordHeaderAttr, 0, body, false, out);
      AddNameRecord(some.empty() ? 0 : some.front(), event.name, false, out);
    } while (!ids.empty() && events_.size() > 1);
  }

  absl::Status WriteText(std::string_view text) {
    const std::span<const std::byte> piece = BytesOfText(text);
    return Write({&piece, 1});
  }

  absl::Status Write(std::span<const std::span<const std::byte>> pieces) {
    if (on_stream_) on_stream_(pieces);
    return WritePieces(fd_.get(), pieces, name_, &written_);
  }

  const std::string name_;
  const UniqueFd fd_;
  const std::vector<EventToWrite> events_;
  const StreamListener on_stream_;
  size_t attr_size_ = 0;
  uint64_t written_ = 0;
  bool appended_ = false;  // true if records were appended since the last round
};

}  // namespace

bool AddRecord(uint32_t type, uint16_t misc, std::string_view body, bool swapped,
               std::string* out) {
  const size_t size = (kHeaderSize + body.size() + 7) / 8 * 8;
  if (size > perf_event::kMaxRecordSize) return false;
  FieldWriter writer(out, swapped);
  writer.Write<uint32_t>(type);
  writer.Write<uint16_t>(misc);
  writer.Write<uint16_t>(static_cast<uint16_t>(size));
  writer.Text(body);
  writer.Zeroes(size - kHeaderSize - body.size());
  return true;
}

bool AddFeatureRecord(int bit, std::string_view section, bool swapped, std::string* out) {
  std::string body;
  FieldWriter writer(&body, swapped);
  writer.U64(static_cast<uint64_t>(bit));
  writer.Text(section);
  return AddRecord(perf_event::kRecordHeaderFeature, 0, body, swapped, out);
}

// struct { header; u64 type, id; char name[]; }
void AddNameRecord(uint64_t id, std::string_view name, bool swapped, std::string* out) {
  std::string body;
  FieldWriter writer(&body, swapped);
  writer.U64(kEventUpdateName);
  writer.U64(id);
  writer.Text(name);
  writer.Zeroes(1);
  AddRecord(perf_event::kRecordEventUpdate, 0, body, swapped, out);
}

namespace {

// The last feature of perf 6.1, which refuses a stream that has a later feature.
constexpr int kLastFeatureInStreams = kFeaturePmuCaps;

// Appends the records that carry a section which perf's streams cannot contain (kCarrierConfig).
void AddCarrierRecords(int bit, std::string_view section, bool swapped, std::string* out) {
  constexpr size_t kFixedSize = kHeaderSize + kEventTypeSize + 3 * sizeof(uint64_t);
  constexpr size_t kMaxPiece = perf_event::kMaxRecordSize - kFixedSize;
  const size_t size = section.size();
  do {
    const std::string_view piece = section.substr(0, kMaxPiece);
    section.remove_prefix(piece.size());
    std::string body;
    FieldWriter writer(&body, swapped);
    writer.U64(kCarrierConfig);
    writer.Text(kCarrierName);
    writer.Zeroes(kEventTypeNameSize - (sizeof(kCarrierName) - 1));
    writer.U64(static_cast<uint64_t>(bit));
    writer.U64(size);
    writer.U64(piece.size());
    writer.Text(piece);
    AddRecord(perf_event::kRecordHeaderEventType, 0, body, swapped, out);
  } while (!section.empty());
}

// Appends a HEADER_BUILD_ID record for each entry of a BUILD_ID section. An entry differs from such
// a record only in its type and padding.
void AddBuildIdRecords(std::string_view section, bool swapped, std::string* out) {
  while (section.size() >= kHeaderSize) {
    perf_event::RecordHeader header;
    std::memcpy(&header, section.data(), sizeof(header));
    if (swapped) header = perf_event::SwapHeader(header);
    if (header.size < kHeaderSize || header.size > section.size()) return;
    const std::string_view body = section.substr(kHeaderSize, header.size - kHeaderSize);
    AddRecord(perf_event::kRecordHeaderBuildId, header.misc, body, swapped, out);
    section.remove_prefix(header.size);
  }
}

}  // namespace

void AddSectionRecords(int bit, std::string_view section, bool swapped, std::string* out) {
  if (bit == kFeatureAuxtrace) return;  // file offsets are meaningless in a stream
  if (bit == kFeatureBuildId) return AddBuildIdRecords(section, swapped, out);
  if (bit == kFeatureTracingData) {
    const size_t padded = (section.size() + 7) / 8 * 8;
    std::string body;
    FieldWriter(&body, swapped).U32(static_cast<uint32_t>(padded));
    AddRecord(perf_event::kRecordHeaderTracingData, 0, body, swapped, out);
    *out += section;
    out->append(padded - section.size(), '\0');
    return;
  }
  // perf mistakes the padding of an old CPU_TOPOLOGY for more fields, and fails.
  const bool padding_misleads = bit == kFeatureCpuTopology && section.size() % 8 != 0;
  if (bit <= kLastFeatureInStreams && !padding_misleads &&
      AddFeatureRecord(bit, section, swapped, out)) {
    return;
  }
  AddCarrierRecords(bit, section, swapped, out);
}

absl::StatusOr<std::unique_ptr<Writer>> CreateStreamWriter(std::string name, UniqueFd fd,
                                                           std::vector<EventToWrite> events,
                                                           StreamListener on_stream) {
  auto writer = std::make_unique<StreamWriter>(std::move(name), std::move(fd), std::move(events),
                                               std::move(on_stream));
  PROFILER_RETURN_IF_ERROR(writer->WriteStart());
  return writer;
}

}  // namespace profiler::perf_data
