#include "src/format/perf_data/read/record_walker.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_event/abi.h"

namespace profiler::perf_data {
namespace {

using perf_event::RecordHeader;

// Record types of ChromeOS's perf. The first is HOSTNAME. The others follow in the order of perf's
// feature bits, up to PMU_MAPPINGS.
constexpr uint32_t kFirstChromeOsFeature = 69, kLastChromeOsFeature = 81;

template <class T>
T ReadAt(const StoredRecord& record, size_t offset, bool swapped) {
  T value{};
  if (offset + sizeof(T) <= record.header.size) {
    std::memcpy(&value, record.data + offset, sizeof(T));
  }
  return swapped ? SwapBytes(value) : value;
}

// Prefetches the start of the next record while a large record is processed. In the other byte
// order, the numbers at a record's start are read one cache line after the other. Always inline:
// GCC 12 would treat a function that only prefetches as one without effect.
[[gnu::always_inline]] inline void FetchNextFront(std::span<const std::byte> bytes, size_t size) {
  constexpr size_t kLine = 64, kFront = 8 * kLine;
  if (size < 2 * kFront || bytes.size() - size < kFront) return;
  for (size_t at = size; at < size + kFront; at += kLine) __builtin_prefetch(&bytes[at]);
}

}  // namespace

// Takes one whole record from `source`. Returns false if there is none, or if its size is invalid.
bool RecordWalker::Take(ByteSource& source, StoredRecord* record) {
  std::span<const std::byte> bytes = source.Peek(sizeof(RecordHeader));
  if (bytes.size() < sizeof(RecordHeader)) {
    cut_bytes_ = bytes.size();
    return false;
  }
  std::memcpy(&record->header, bytes.data(), sizeof(RecordHeader));
  if (swapped_) record->header = perf_event::SwapHeader(record->header);
  const size_t size = record->header.size;
  if (size < sizeof(RecordHeader)) [[unlikely]] {
    status_ = absl::DataLossError(absl::StrCat("offset ", record_offset_, ": record of type ",
                                               record->header.type, ": field size is ", size,
                                               ", less than a record header"));
    return false;
  }
  if (bytes.size() < size) bytes = source.Peek(size);
  if (bytes.size() < size) {
    cut_bytes_ = bytes.size();
    return false;
  }
  record->data = bytes.data();
  source.Advance(size);
  if (swapped_) FetchNextFront(bytes, size);
  return true;
}

bool RecordWalker::NextInside(StoredRecord* record) {
  const bool taken = Take(inflating_, record);
  if (taken) return true;
  in_compressed_ = false;
  if (!inflating_.status().ok()) {
    status_ = absl::DataLossError(
        absl::StrCat("offset ", record_offset_,
                     ": compressed record: field data: ", inflating_.status().message()));
  }
  return false;
}

bool RecordWalker::NextOutside(StoredRecord* record) {
  payload_ = {};
  while (status_.ok()) {
    record_offset_ = source_->offset();
    const size_t cut_inside = cut_bytes_;  // bytes of an inner record that may go on
    cut_bytes_ = 0;
    if (!Take(*source_, record)) {
      if (cut_bytes_ == 0) cut_bytes_ = cut_inside;
      if (!source_->status().ok()) status_ = source_->status();
      return false;
    }
    if (IsChromeOsFeature(record->header.type)) {
      MakeHeaderFeature(record);
      return true;
    }
    switch (record->header.type) {
      case perf_event::kRecordCompressed:
      case perf_event::kRecordCompressed2:
        if (compressed_ == Compressed::kKeep) return true;
        OpenCompressed(*record);
        if (compressed_ == Compressed::kShowAndInflate) return true;
        if (NextInside(record)) return true;
        continue;
      case perf_event::kRecordAuxtrace:
      case perf_event::kRecordHeaderTracingData:
        return TakePayload(*record);
      default:
        cut_bytes_ = cut_inside;
        return true;
    }
  }
  return false;
}

// True for a feature record of ChromeOS's perf. Its first type, HOSTNAME, is ID_INDEX in perf, but
// no perf writes ID_INDEX before the events. Its other types follow in ascending order, each at
// most once. After HEADER_ATTR all types have perf's meaning.
bool RecordWalker::IsChromeOsFeature(uint32_t type) {
  if (type == perf_event::kRecordHeaderAttr) in_front_of_events_ = false;
  const uint32_t last = last_chrome_os_feature_;
  const bool follows =
      last == 0 ? type == kFirstChromeOsFeature : type > last && type <= kLastChromeOsFeature;
  if (!in_front_of_events_ || !follows) return false;
  last_chrome_os_feature_ = type;
  return true;
}

// Converts { header │ section } to { header │ u64 feature │ section }.
void RecordWalker::MakeHeaderFeature(StoredRecord* record) {
  uint64_t feature = record->header.type - kFirstChromeOsFeature + kFeatureHostname;
  if (swapped_) feature = SwapBytes(feature);
  const std::span<const std::byte> section(record->data + sizeof(RecordHeader),
                                           record->header.size - sizeof(RecordHeader));
  // A section that leaves no room for the number loses its end; none of the features that we read
  // is that large.
  const size_t kept = std::min(section.size(), UINT16_MAX - sizeof(RecordHeader) - sizeof(feature));
  record->header.type = perf_event::kRecordHeaderFeature;
  record->header.size = static_cast<uint16_t>(sizeof(RecordHeader) + sizeof(feature) + kept);
  const RecordHeader header = swapped_ ? perf_event::SwapHeader(record->header) : record->header;
  Chunk* const chunk = chunks_->Allocate(record->header.size);
  chunk->origins.push_back({0, record_offset_, /*compressed=*/true});
  std::byte* const data = chunk->data.get();
  std::memcpy(data, &header, sizeof(header));
  std::memcpy(data + sizeof(header), &feature, sizeof(feature));
  std::memcpy(data + sizeof(header) + sizeof(feature), section.data(), kept);
  record->data = data;
  chunks_->Release(chunk);
}

void RecordWalker::OpenCompressed(const StoredRecord& record) {
  std::span<const std::byte> data(record.data, record.header.size);
  data = data.subspan(sizeof(RecordHeader));
  if (record.header.type == perf_event::kRecordCompressed2) {
    const uint64_t size = ReadAt<uint64_t>(record, sizeof(RecordHeader), swapped_);
    data = data.subspan(std::min(data.size(), sizeof(size)));
    if (size > data.size()) {
      status_ = absl::DataLossError(absl::StrCat("offset ", record_offset_,
                                                 ": record of type 83: field data_size is ", size,
                                                 ", the record has ", data.size()));
      return;
    }
    data = data.first(size);
  }
  inflating_.Feed(data, record_offset_);
  in_compressed_ = true;
}

// struct auxtrace_event { header; u64 size; … }          followed by `size` bytes
// struct tracing_data_event { header; u32 size; }        followed by `size` bytes, padded to 8
bool RecordWalker::TakePayload(const StoredRecord& record) {
  const bool auxtrace = record.header.type == perf_event::kRecordAuxtrace;
  const uint64_t size =
      auxtrace ? ReadAt<uint64_t>(record, sizeof(RecordHeader), swapped_)
               : (uint64_t{ReadAt<uint32_t>(record, sizeof(RecordHeader), swapped_)} + 7) / 8 * 8;
  payload_ = source_->TakePayload(size);
  if (payload_.size() == size) return true;
  if (!source_->Skip(size)) cut_bytes_ = sizeof(RecordHeader);
  return true;
}

absl::Status HowItEnded(const RecordWalker& walker, const std::string& name, CutRecord cut_record,
                        std::string* warning) {
  if (!walker.status().ok()) {
    return absl::Status(walker.status().code(),
                        absl::StrCat(name, ": ", walker.status().message()));
  }
  if (walker.cut_bytes() == 0 || cut_record == CutRecord::kKnown) return absl::OkStatus();
  const std::string what = absl::StrCat("offset ", walker.offset(), ": the last record is cut");
  if (cut_record == CutRecord::kWarning) {
    *warning = what;
    return absl::OkStatus();
  }
  return absl::DataLossError(
      absl::StrCat(name, ": ", what, ": its field size is past the end of the data section"));
}

}  // namespace profiler::perf_data
