#include "src/perf_data/stream_writer.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/perf_data/features_codec.h"
#include "src/perf_data/field_io.h"
#include "src/perf_data/file_header.h"
#include "src/perf_data/perf_data_format.h"
#include "src/perf_data/write_pieces.h"
#include "src/perf_event/abi.h"
#include "src/perf_event/codec.h"

namespace profiler::perf_data {
namespace {

constexpr size_t kHeaderSize = sizeof(perf_event::RecordHeader);

// The last feature of perf 6.1, which refuses a stream with a later one.
constexpr int kLastFeatureInStreams = kFeaturePmuCaps;

// Appends a record with this body, padded with zeroes to 8 bytes; nothing when it is too large.
bool AddRecord(uint32_t type, std::string_view body, std::string* out) {
  const size_t size = (kHeaderSize + body.size() + 7) / 8 * 8;
  if (size > perf_event::kMaxRecordSize) return false;
  FieldWriter writer(out);
  writer.Write(perf_event::RecordHeader{type, 0, static_cast<uint16_t>(size)});
  writer.Text(body);
  writer.Zeroes(size - kHeaderSize - body.size());
  return true;
}

class StreamWriter final : public Writer {
 public:
  StreamWriter(std::string name, UniqueFd fd, std::vector<EventToWrite> events)
      : name_(std::move(name)), fd_(std::move(fd)), events_(std::move(events)) {
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
    return WritePieces(fd_.get(), pieces, name_, &written_);
  }

  absl::Status FinishRound() override {
    if (!appended_) return absl::OkStatus();
    std::string marker;
    AddRecord(perf_event::kRecordFinishedRound, {}, &marker);
    appended_ = false;
    return WriteText(marker);
  }

  absl::Status Finish(const Features& features) override {
    PROFILER_RETURN_IF_ERROR(FinishRound());
    std::string records;
    for (const auto& [bit, section] : EncodeFeatures(features)) {
      if (bit == kFeatureBuildId) {
        AddBuildIds(section, &records);
      } else if (bit <= kLastFeatureInStreams && bit != kFeatureTracingData) {
        AddFeatureRecord(bit, section, &records);
      }
    }
    return WriteText(records);
  }

  uint64_t bytes_written() const override { return written_; }

 private:
  // HEADER_ATTR and the event's name; as many HEADER_ATTR as the ids need.
  void AddEvent(const EventToWrite& event, std::span<const uint64_t> ids, std::string* out) {
    const size_t max_ids = (perf_event::kMaxRecordSize - kHeaderSize - attr_size_) / 8;
    do {
      const std::span<const uint64_t> some = ids.first(std::min(ids.size(), max_ids));
      ids = ids.subspan(some.size());
      std::string body, update;
      WriteSizedAttr(event.attr, attr_size_, &body);
      for (uint64_t id : some) FieldWriter(&body).U64(id);
      AddRecord(perf_event::kRecordHeaderAttr, body, out);
      FieldWriter writer(&update);
      writer.U64(kEventUpdateName);
      writer.U64(some.empty() ? 0 : some.front());
      writer.Text(event.name);
      writer.Zeroes(1);
      AddRecord(perf_event::kRecordEventUpdate, update, out);
    } while (!ids.empty() && events_.size() > 1);
  }

  // The section is a row of records but for their type and their padding.
  static void AddBuildIds(const std::string& section, std::string* out) {
    for (std::string_view left = section; left.size() >= kHeaderSize;) {
      perf_event::RecordHeader header;
      std::memcpy(&header, left.data(), sizeof(header));
      const std::string_view body = left.substr(kHeaderSize, header.size - kHeaderSize);
      const size_t at = out->size();
      if (AddRecord(perf_event::kRecordHeaderBuildId, body, out)) {
        std::memcpy(out->data() + at + offsetof(perf_event::RecordHeader, misc), &header.misc,
                    sizeof(header.misc));
      }
      left.remove_prefix(header.size);
    }
  }

  absl::Status WriteText(std::string_view text) {
    const std::span<const std::byte> piece = BytesOfText(text);
    return WritePieces(fd_.get(), {&piece, 1}, name_, &written_);
  }

  const std::string name_;
  const UniqueFd fd_;
  const std::vector<EventToWrite> events_;
  size_t attr_size_ = 0;
  uint64_t written_ = 0;
  bool appended_ = false;  // since the last round ended
};

}  // namespace

void AddFeatureRecord(int bit, const std::string& section, std::string* out) {
  std::string body;
  FieldWriter(&body).U64(bit);
  body += section;
  AddRecord(perf_event::kRecordHeaderFeature, body, out);
}

absl::StatusOr<std::unique_ptr<Writer>> CreateStreamWriter(std::string name, UniqueFd fd,
                                                           std::vector<EventToWrite> events) {
  auto writer = std::make_unique<StreamWriter>(std::move(name), std::move(fd), std::move(events));
  PROFILER_RETURN_IF_ERROR(writer->WriteStart());
  return writer;
}

}  // namespace profiler::perf_data
