#include "src/format/perf_data/dump/dump.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/byte_reader.h"
#include "src/base/text.h"
#include "src/format/perf_data/format/own_layout.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/attr_codec.h"
#include "src/format/perf_event/describe.h"
#include "src/format/perf_event/record_text.h"
#include "src/format/perf_event/register_names.h"

namespace profiler::perf_data {
namespace {

constexpr size_t kPiece = 1 << 16;
constexpr uint32_t kLastRecordType = perf_event::kRecordSchedstatDomain;

std::string_view NameOf(uint64_t bit) {
  const NamedFeature* const feature = FindFeature(bit);
  return feature == nullptr ? "unknown" : feature->name;
}

void AppendSection(std::string_view name, const FileSection& section, std::string* out) {
  std::string padded(name);
  padded.resize(std::max<size_t>(padded.size() + 1, 20), ' ');
  absl::StrAppendFormat(out, "  %soffset %#x, size %u\n", padded, section.offset, section.size);
}

void AppendHeader(const FileLayout& layout, std::string* out) {
  *out += "header\n";
  const bool little = (std::endian::native == std::endian::little) != layout.swapped;
  absl::StrAppend(out, "  version           ", layout.version, "\n");
  absl::StrAppend(out, "  byte order        ", little ? "little" : "big", " endian\n");
  absl::StrAppend(out, "  layout            ", layout.pipe ? "stream" : "file", "\n");
  if (layout.pipe) return;
  absl::StrAppend(out, "  attr entry size   ", layout.attr_entry_size, "\n");
  AppendSection("attrs", layout.attrs, out);
  AppendSection("data", layout.data, out);
  AppendSection("event types", layout.event_types, out);
}

void AppendAttr(const perf_event::Attr& attr, int indent, std::string* out) {
  for (const auto& [name, value] : perf_event::DescribeAttr(attr)) {
    absl::StrAppendFormat(out, "%*s%-*s %s\n", indent, "", 37 - indent, name, value);
  }
}

void AppendEvent(size_t index, const EventDescription& event, std::string* out) {
  absl::StrAppend(out, "event ", index, " ", absl::Utf8SafeCEscape(event.name), "\n");
  AppendAttr(event.attr, 2, out);
  if (event.ids.empty()) return;
  *out += "  ids                                  ";
  constexpr size_t kMaxIds = 64;
  for (size_t i = 0; i < std::min(event.ids.size(), kMaxIds); ++i) {
    absl::StrAppend(out, i == 0 ? "" : " ", event.ids[i]);
  }
  if (event.ids.size() > kMaxIds) absl::StrAppend(out, " … (", event.ids.size(), ")");
  *out += '\n';
}

class Dumper {
 public:
  Dumper(Recording& recording, const DumpOptions& options,
         absl::FunctionRef<void(std::string_view)> sink)
      : recording_(recording), options_(options), sink_(sink) {}

  void Start() {
    AppendHeader(recording_.layout(), &out_);
    AppendNewEvents();
    for (const FileLayout::Section& feature : recording_.layout().sections) {
      absl::StrAppendFormat(&out_, "feature %d %s: offset %#x, size %u\n", feature.bit,
                            NameOf(feature.bit), feature.place.offset, feature.place.size);
    }
    out_ += '\n';
    architecture_ = perf_event::ArchitectureOf(recording_.features().arch);
    if (recording_.features().arch.empty()) architecture_ = perf_event::NativeArchitecture();
  }

  // Returns false if no more records are needed.
  bool Take(const TimedRecord& timed) {
    const uint32_t type = timed.record.type();
    if (perf_event::RecordTypeName(type).empty()) CountUnknown(type);
    if (!Wanted(type)) return true;
    AppendNewEvents();
    AppendRecord(timed);
    if (out_.size() >= kPiece) Flush();
    return ++shown_ < options_.max_records;
  }

  void End() {
    for (const auto& [type, count] : unknown_) {
      absl::StrAppend(&out_, count, " records of the unknown type ", type, "\n");
    }
    if (other_unknown_ != 0) {
      absl::StrAppend(&out_, other_unknown_, " records of yet other unknown types\n");
    }
    Flush();
  }

 private:
  static constexpr size_t kMaxUnknownTypes = 256;

  void CountUnknown(uint32_t type) {
    const auto it = unknown_.find(type);
    if (it != unknown_.end()) {
      ++it->second;
    } else if (unknown_.size() < kMaxUnknownTypes) {
      unknown_.emplace(type, 1);
    } else {
      ++other_unknown_;
    }
  }

  bool Wanted(uint32_t type) const {
    return options_.types.empty() ||
           std::find(options_.types.begin(), options_.types.end(), type) != options_.types.end();
  }

  void Flush() {
    if (!out_.empty()) sink_(out_);
    out_.clear();
  }

  // Appends events that became known since the last call. In a stream, events become known while
  // records are read.
  void AppendNewEvents() {
    const std::vector<EventDescription>& events = recording_.events();
    for (; events_ < events.size(); ++events_) AppendEvent(events_, events[events_], &out_);
  }

  void AppendRecord(const TimedRecord& timed) {
    const perf_event::RawRecord record = timed.record;
    const uint32_t type = record.type();
    const std::string_view name = perf_event::RecordTypeName(type);
    absl::StrAppendFormat(&out_, "%#x: %s (%u) misc %s size %u", timed.file_offset,
                          name.empty() ? "unknown" : name, type,
                          perf_event::DescribeMisc(type, record.misc()), record.bytes().size());
    const bool of_kernel = type < perf_event::kRecordUserFirst;
    if (of_kernel && recording_.events().size() > 1) absl::StrAppend(&out_, " event ", timed.event);
    if (IsCompressed(timed)) absl::StrAppend(&out_, " (compressed)");
    out_ += '\n';
    if (options_.hex) perf_event::AppendHexDump(record.bytes(), 4, &out_);
    if (!of_kernel) {
      AppendOwnRecord(record);
    } else if (timed.event < recording_.events().size()) {
      perf_event::AppendFields(record, recording_.events()[timed.event].layout, architecture_,
                               &out_);
    } else {
      perf_event::AppendBytes("(no event says how)", record.body(), 4, &out_);
    }
    if (!timed.payload.empty()) {
      perf_event::AppendNumber("(bytes that follow)", timed.payload.size(), 4, &out_);
    }
  }

  // True for a record from inside a compressed record, whose file offset it shares.
  bool IsCompressed(const TimedRecord& timed) {
    const uint32_t type = timed.record.type();
    const bool container =
        type == perf_event::kRecordCompressed || type == perf_event::kRecordCompressed2;
    if (container) compressed_at_ = timed.file_offset;
    return !container && timed.file_offset == compressed_at_;
  }

  void AppendOwnRecord(perf_event::RawRecord record) {
    const std::span<const std::byte> body = record.body();
    if (record.type() == perf_event::kRecordHeaderAttr) return AppendAttrRecord(body);
    const OwnParts parts = OwnPartsOf(record.type(), body, false);
    const bool feature = record.type() == perf_event::kRecordHeaderFeature;
    const size_t read =
        WalkOwnFields(parts, body, [&](const OwnField& field, std::span<const std::byte> bytes) {
          const uint64_t value = AppendOwnField(field, bytes);
          if (feature && field.kind == OwnField::kNumber) {
            absl::StrAppend(&out_, "    (feature)           ", View(NameOf(value)), "\n");
          }
          return value;
        });
    const std::span<const std::byte> rest = body.subspan(read);
    const bool padding = rest.size() < 8 && std::all_of(rest.begin(), rest.end(), [](std::byte b) {
                           return b == std::byte{0};
                         });
    if (!padding) perf_event::AppendBytes("(no field)", rest, 4, &out_);
  }

  uint64_t AppendOwnField(const OwnField& field, std::span<const std::byte> bytes) {
    constexpr int kIndent = 4;
    switch (field.kind) {
      case OwnField::kNumber: {
        uint64_t value = 0;
        std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(value)));
        perf_event::AppendNumber(field.name, value, kIndent, &out_);
        return value;
      }
      case OwnField::kText: {
        const std::string_view text = TextOf(bytes);
        perf_event::AppendText(field.name, text.substr(0, text.find('\0')), kIndent, &out_);
        return 0;
      }
      case OwnField::kBytes:
        perf_event::AppendBytes(field.name, bytes, kIndent, &out_);
        return 0;
      case OwnField::kOpaque:
        perf_event::AppendNumber({"(bytes)"}, bytes.size(), kIndent, &out_);
        return 0;
    }
    return 0;
  }

  void AppendAttrRecord(std::span<const std::byte> body) {
    const auto decoded = perf_event::ReadAttr(body, false);
    if (!decoded.ok()) return perf_event::AppendBytes("(no attr)", body, 4, &out_);
    AppendAttr(decoded->attr, 4, &out_);
    if (!decoded->unknown_tail.empty()) {
      perf_event::AppendBytes("(newer fields)", decoded->unknown_tail, 4, &out_);
    }
    ByteReader ids(body.subspan(decoded->bytes));
    while (ids.remaining() >= 8) {
      perf_event::AppendNumber({"id"}, ids.Read<uint64_t>(), 4, &out_);
    }
  }

  Recording& recording_;
  const DumpOptions& options_;
  absl::FunctionRef<void(std::string_view)> sink_;
  perf_event::Architecture architecture_;
  std::string out_;
  size_t events_ = 0;
  uint64_t shown_ = 0;
  uint64_t compressed_at_ = UINT64_MAX;
  // Number of records of each unknown type. At most kMaxUnknownTypes types are kept, because they
  // come from untrusted bytes.
  std::map<uint32_t, uint64_t> unknown_;
  uint64_t other_unknown_ = 0;
};

}  // namespace

absl::StatusOr<uint32_t> ParseRecordType(std::string_view name) {
  uint32_t number;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc() && end == name.data() + name.size()) return number;
  std::string upper = absl::AsciiStrToUpper(View(name));
  constexpr std::string_view kPrefix = "PERF_RECORD_";
  if (upper.starts_with(kPrefix)) upper.erase(0, kPrefix.size());
  for (uint32_t type = 1; type <= kLastRecordType; ++type) {
    if (perf_event::RecordTypeName(type) == upper) return type;
  }
  return absl::InvalidArgumentError(absl::StrCat("\"", View(name), "\" is not a record type"));
}

absl::Status Dump(Recording& recording, const DumpOptions& options,
                  absl::FunctionRef<void(std::string_view)> sink) {
  Dumper dumper(recording, options, sink);
  dumper.Start();
  absl::Status status;
  if (options.max_records != 0) {
    status = recording.ForEach(Recording::Order::kStored,
                               [&dumper](const TimedRecord& timed) { return dumper.Take(timed); });
  }
  dumper.End();
  return status;
}

}  // namespace profiler::perf_data
