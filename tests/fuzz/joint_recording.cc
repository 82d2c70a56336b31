#include "tests/fuzz/joint_recording.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "src/base/byte_reader.h"
#include "src/format/perf_data/format/features_codec.h"
#include "src/format/perf_data/format/field_io.h"
#include "src/format/perf_data/format/file_header.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/write/stream_writer.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/attr_codec.h"
#include "src/format/perf_event/codec.h"
#include "tests/fuzz/feature_program.h"
#include "tests/fuzz/stored_sections.h"

namespace profiler::fuzz {
namespace {

using perf_data::FieldWriter;
using perf_data::FileSection;

constexpr size_t kAttrSize = sizeof(perf_event::Attr);

std::string AttrBytes(perf_event::Attr attr, bool swapped) {
  attr.size = kAttrSize;
  if (swapped) attr = perf_event::SwapAttrToForeign(attr);
  return std::string(TextOf(BytesOf(attr)));
}

std::string EventDesc(const RecordProgram& program, bool swapped) {
  std::vector<perf_data::StoredEventDesc> events;
  for (const perf_data::EventToWrite& event : program.events) {
    events.push_back({AttrBytes(event.attr, swapped), event.name, event.ids});
  }
  return perf_data::EncodeEventDesc(events, kAttrSize, swapped);
}

// Calls visit(record) for each whole record.
template <class Visit>
void ForEachRecord(std::span<std::byte> records, Visit visit) {
  while (records.size() >= sizeof(perf_event::RecordHeader)) {
    perf_event::RecordHeader header;
    std::memcpy(&header, records.data(), sizeof(header));
    if (header.size < sizeof(header) || header.size > records.size()) return;
    visit(records.first(header.size));
    records = records.subspan(header.size);
  }
}

// Returns the records as a file stores them, in the other byte order if `swapped`. All events have
// the same layout, so the first event's layout fits all records.
Bytes StoredRecords(const RecordProgram& program, bool swapped) {
  Bytes records = program.records;
  if (!swapped) return records;
  const perf_event::RecordLayout layout(program.events.front().attr);
  ForEachRecord(records, [&](std::span<std::byte> record) {
    (void)perf_event::SwapToForeign(record, layout);
  });
  return records;
}

void Append(std::span<const std::byte> bytes, Bytes* out) {
  out->insert(out->end(), bytes.begin(), bytes.end());
}

}  // namespace

Bytes FileOf(const RecordProgram& program, const Sections& sections, bool swapped) {
  Sections all = sections;
  all[perf_data::kFeatureEventDesc] = EventDesc(program, swapped);
  const Bytes records = StoredRecords(program, swapped);
  const uint64_t entry_size = kAttrSize + sizeof(FileSection);
  perf_data::FileHeader header;
  header.swapped = swapped;
  header.attr_entry_size = entry_size;
  header.attrs = {perf_data::kFileHeaderSize, program.events.size() * entry_size};
  uint64_t ids_at = header.attrs.offset + header.attrs.size;
  std::string attrs, ids;
  FieldWriter attr_writer(&attrs, swapped), id_writer(&ids, swapped);
  for (const perf_data::EventToWrite& event : program.events) {
    attrs += AttrBytes(event.attr, swapped);
    attr_writer.Section({ids_at, event.ids.size() * 8});
    for (const uint64_t id : event.ids) id_writer.U64(id);
    ids_at += event.ids.size() * 8;
  }
  header.data = {ids_at, records.size()};
  for (const auto& [bit, section] : all) header.features[static_cast<size_t>(bit)] = true;
  const uint64_t end = header.data.offset + header.data.size;
  Bytes file;
  Append(perf_data::EncodeFileHeader(header), &file);
  Append(BytesOfText(attrs), &file);
  Append(BytesOfText(ids), &file);
  Append(records, &file);
  Append(BytesOfText(perf_data::FeatureSections(all, end, swapped)), &file);
  return file;
}

Bytes StreamOf(const RecordProgram& program, const Sections& sections, bool swapped) {
  std::string start, end;
  FieldWriter(&start, swapped).Fields(perf_data::kMagic2, uint64_t{perf_data::kPipeHeaderSize});
  for (const perf_data::EventToWrite& event : program.events) {
    std::string body = AttrBytes(event.attr, swapped);
    FieldWriter writer(&body, swapped);
    for (const uint64_t id : event.ids) writer.U64(id);
    perf_data::AddRecord(perf_event::kRecordHeaderAttr, 0, body, swapped, &start);
    perf_data::AddNameRecord(event.ids.front(), event.name, swapped, &start);
  }
  for (const auto& [bit, section] : sections) {
    perf_data::AddSectionRecords(bit, section, swapped, &end);
  }
  Bytes stream;
  Append(BytesOfText(start), &stream);
  Append(StoredRecords(program, swapped), &stream);
  Append(BytesOfText(end), &stream);
  return stream;
}

namespace {

// Adds records of the types that perf's tools write between the kernel's records. Their content is
// arbitrary.
void AddOwnRecords(Choices& choices, Bytes* records) {
  for (size_t count = choices.Below(6); count != 0; --count) {
    const auto type = static_cast<uint32_t>(perf_event::kRecordUserFirst + choices.Below(24));
    std::string body;
    FieldWriter writer(&body);
    for (size_t words = choices.Below(12); words != 0; --words) {
      writer.U64(choices.Yes() ? choices.HardNumber(body.size()) : choices.Below(4));
    }
    std::string record;
    perf_data::AddRecord(type, 0, body, false, &record);
    Append(BytesOfText(record), records);
  }
}

void AddOwnSections(Choices& choices, const RecordProgram& program, Sections* sections) {
  const uint8_t which = choices.Byte();
  const auto functions = static_cast<uint32_t>(1 + which / 16 * 4);
  if ((which & 1) != 0) (*sections)[perf_data::kFeatureNames] = StoredNames(functions);
  if ((which & 2) != 0) (*sections)[perf_data::kFeatureCode] = StoredCode(functions);
  if ((which & 4) != 0) {
    (*sections)[perf_data::kFeatureSums] = StoredProfile(functions, program.records.size());
  }
}

// Returns offsets in the recording of numbers that may be sizes or positions. They are in the
// header, in the attr entries, in the feature table, and in the first 64 bytes of each record.
std::vector<size_t> NumbersIn(JointRecording& recording) {
  std::vector<size_t> numbers;
  const size_t end = recording.bytes.size();
  const auto add = [&](size_t from, size_t to) {
    for (size_t at = from; at + 8 <= std::min(to, end); at += 8) numbers.push_back(at);
  };
  size_t records_at = perf_data::kPipeHeaderSize;
  if (!recording.is_stream) {
    const size_t entry = kAttrSize + sizeof(FileSection);
    const size_t attrs = recording.program.events.size() * entry;
    add(0, perf_data::kFileHeaderSize + attrs);
    records_at = perf_data::kFileHeaderSize + attrs;
    for (const perf_data::EventToWrite& event : recording.program.events) {
      records_at += event.ids.size() * 8;
    }
    const size_t table_at = records_at + recording.program.records.size();
    add(table_at, table_at + (recording.sections.size() + 2) * sizeof(FileSection));
  }
  const std::span<std::byte> bytes = recording.bytes;
  ForEachRecord(bytes.subspan(std::min(records_at, end)), [&](std::span<std::byte> record) {
    const auto at = static_cast<size_t>(record.data() - bytes.data());
    add(at, at + std::min<size_t>(record.size(), 64));
  });
  return numbers;
}

void Spoil(Choices& choices, size_t count, JointRecording* recording) {
  const std::vector<size_t> numbers = NumbersIn(*recording);
  for (size_t i = 0; i < count && !numbers.empty(); ++i) {
    std::byte* const at = recording->bytes.data() + choices.OneOf(numbers);
    const size_t part = choices.Below(7);  // part of the number: all, a half or a quarter
    const size_t width = part == 0 ? 8 : part < 3 ? 4 : 2;
    const size_t offset = part == 0 ? 0 : part < 3 ? (part - 1) * 4 : (part - 3) * 2;
    uint64_t number = 0;
    std::memcpy(&number, at + offset, width);
    number = choices.HardNumber(choices.Yes() ? number : recording->bytes.size());
    std::memcpy(at + offset, &number, width);
    recording->is_spoilt = true;
  }
}

}  // namespace

JointRecording MakeRecording(Choices& choices, std::span<const std::string> files) {
  const uint8_t form = choices.Byte();
  const bool swapped = (form & 2) != 0;
  const size_t lies = form / 4 % 8;
  JointRecording recording;
  recording.is_stream = (form & 1) != 0;
  constexpr size_t kMostRecords = 64;
  const size_t records = choices.Below(kMostRecords);
  recording.program = MakeRecords(choices, files, records);
  recording.sections = SectionsOfPerf(choices, swapped);
  if (lies > 4) AddOwnRecords(choices, &recording.program.records);
  if (!swapped) AddOwnSections(choices, recording.program, &recording.sections);
  const auto write = recording.is_stream ? StreamOf : FileOf;
  recording.bytes = write(recording.program, recording.sections, swapped);
  recording.is_spoilt = lies > 4;
  Spoil(choices, lies, &recording);
  return recording;
}

}  // namespace profiler::fuzz
