#include "src/format/perf_data/read/own_records.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "src/format/perf_data/format/features_codec.h"
#include "src/format/perf_data/format/field_io.h"
#include "src/format/perf_data/format/file_header.h"
#include "src/format/perf_data/format/own_layout.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/attr_codec.h"

namespace profiler::perf_data {
namespace {

constexpr size_t kHeaderSize = sizeof(perf_event::RecordHeader);

std::string UpToNul(std::span<const std::byte> bytes) {
  const std::string_view text = TextOf(bytes);
  return std::string(text.substr(0, text.find('\0')));
}

// struct { header; struct perf_event_attr attr; u64 id[]; }   attr is as long as its size says
bool CollectAttr(std::span<const std::byte> body, bool swapped, EventTable* events) {
  const absl::StatusOr<perf_event::DecodedAttr> decoded = perf_event::ReadAttr(body, swapped);
  if (!decoded.ok()) return false;
  FieldReader reader(body.subspan(decoded->bytes), swapped);
  std::vector<uint64_t> ids(reader.remaining() / sizeof(uint64_t));
  for (uint64_t& id : ids) id = reader.U64();
  events->Add(decoded->attr, {}, std::move(ids));
  return true;
}

// struct { header; u64 type, id; … }   NAME: char name[]
bool CollectUpdate(FieldReader& reader, EventTable* events) {
  const uint64_t type = reader.U64();
  const uint64_t id = reader.U64();
  if (!reader.ok()) return false;
  std::string text = UpToNul(reader.Bytes(reader.remaining()));
  if (type == kEventUpdateName && !text.empty()) events->Rename(id, std::move(text));
  return true;
}

// struct { header; u64 config; char name[64]; }
bool CollectEventType(FieldReader& reader, EventTable* events) {
  const uint64_t config = reader.U64();
  std::string name = UpToNul(reader.Bytes(reader.remaining()));
  if (!reader.ok()) return false;
  events->NameByType(config, name);
  return true;
}

struct CarriedPiece {
  int bit = 0;
  uint64_t section_size = 0;
  std::span<const std::byte> bytes;
};

std::optional<CarriedPiece> ReadCarriedPiece(std::span<const std::byte> body, bool swapped) {
  FieldReader reader(body, swapped);
  const uint64_t config = reader.U64();
  const std::string name = UpToNul(reader.Bytes(kEventTypeNameSize));
  const uint64_t bit = reader.U64();
  const uint64_t size = reader.U64();
  const std::span<const std::byte> piece = reader.Bytes(reader.U64());
  if (!reader.ok() || config != kCarrierConfig || name != kCarrierName || bit >= kFeatureBits) {
    return std::nullopt;
  }
  return CarriedPiece{static_cast<int>(bit), size, piece};
}

// Returns a little-endian number of any width.
uint64_t NumberIn(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(value)));
  return value;
}

void SwapHeaderAttr(std::span<std::byte> body) {
  const absl::StatusOr<perf_event::DecodedAttr> decoded = perf_event::ReadAttr(body, true);
  if (!decoded.ok()) return;
  const size_t known = std::min(decoded->bytes, sizeof(decoded->attr));
  std::memcpy(body.data(), &decoded->attr, known);
  for (body = body.subspan(decoded->bytes); body.size() >= 8; body = body.subspan(8)) {
    std::reverse(body.begin(), body.begin() + 8);
  }
}

}  // namespace

bool CollectOwnRecord(const StoredRecord& record, std::span<const std::byte> payload, bool swapped,
                      bool events_known, EventTable* events, Features* features) {
  const std::span<const std::byte> bytes(record.data, record.header.size);
  const std::span<const std::byte> body = bytes.subspan(kHeaderSize);
  FieldReader reader(body, swapped);
  switch (record.header.type) {
    case perf_event::kRecordHeaderAttr:
      return events_known || CollectAttr(body, swapped, events);
    case perf_event::kRecordHeaderEventType:
      if (const std::optional<int> bit = CollectCarriedSection(body, swapped, &features->other)) {
        const std::string section = std::move(features->other.extract(*bit).mapped());
        return DecodeFeature(*bit, BytesOfText(section), swapped, features);
      }
      return CollectEventType(reader, events);
    case perf_event::kRecordEventUpdate:
      return CollectUpdate(reader, events);
    case perf_event::kRecordHeaderFeature: {
      const uint64_t bit = reader.U64();
      if (!reader.ok() || bit >= kFeatureBits) return false;
      if (IsEndOfFeatures(bit, reader.remaining())) return true;
      if (bit == kFeatureEventDesc) {
        if (!events_known) {
          events->NameByDescriptions(DecodeEventDesc(body.subspan(reader.offset()), swapped));
        }
        return true;
      }
      return DecodeFeature(static_cast<int>(bit), reader.Bytes(reader.remaining()), swapped,
                           features);
    }
    case perf_event::kRecordHeaderBuildId: {
      BuildIdEntry entry;
      if (!DecodeBuildId(bytes, swapped, &entry)) return false;
      features->build_ids.push_back(std::move(entry));
      return true;
    }
    case perf_event::kRecordHeaderTracingData:
      if (!payload.empty()) {
        events->NameByTracingData(TextOf(payload));
        features->other[kFeatureTracingData] = TextOf(payload);
      }
      return true;
    case perf_event::kRecordAuxtraceInfo:
      features->aux_data.type = reader.U32();
      return reader.ok();
    case perf_event::kRecordAuxtrace:
      features->aux_data.bytes += reader.U64();
      return reader.ok();
    default:
      return true;
  }
}

bool IsEndOfFeatures(uint64_t bit, size_t section_size) {
  return section_size == 0 && bit > kFeatureStat;
}

std::optional<int> CollectCarriedSection(std::span<const std::byte> body, bool swapped,
                                         std::map<int, std::string>* sections) {
  const std::optional<CarriedPiece> carried = ReadCarriedPiece(body, swapped);
  if (!carried) return std::nullopt;
  std::string& section = (*sections)[carried->bit];
  section += TextOf(carried->bytes);
  return section.size() == carried->section_size ? std::optional(carried->bit) : std::nullopt;
}

std::optional<int> CarriedSectionOf(std::span<const std::byte> body, bool swapped) {
  const std::optional<CarriedPiece> carried = ReadCarriedPiece(body, swapped);
  return carried ? std::optional(carried->bit) : std::nullopt;
}

void SwapOwnBodyToNative(std::span<std::byte> record) {
  perf_event::RecordHeader header;
  std::memcpy(&header, record.data(), sizeof(header));
  const std::span<std::byte> body = record.subspan(kHeaderSize);
  if (header.type == perf_event::kRecordHeaderAttr) return SwapHeaderAttr(body);
  WalkOwnFields(OwnPartsOf(header.type, body, true), body,
                [](const OwnField& field, std::span<std::byte> bytes) {
                  if (field.kind != OwnField::kNumber) return uint64_t{0};
                  std::reverse(bytes.begin(), bytes.end());
                  return NumberIn(bytes);
                });
}

}  // namespace profiler::perf_data
