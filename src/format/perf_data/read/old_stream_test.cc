// Tests streams of versions of perf in which record types from 69 on had another meaning.

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/byte_reader.h"
#include "src/format/perf_data/format/field_io.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_event/abi.h"

namespace profiler::perf_data {
namespace {

using Order = Recording::Order;
using perf_event::RecordBuilder;

constexpr char kPerfsPart[] = "ATTR, UPDATE, FEATURE, 10 SAMPLE";

std::vector<std::byte> PerfsPart() {
  RecordBuilder records(UsualAttr());
  records.At(10).Id(1).Sample(0x1000);
  return StreamOf({{UsualAttr(), "cycles:u", {1, 2}}}, records.bytes());
}

// Appends a feature section as ChromeOS's perf wrote it into a stream.
void AddChromeOsFeature(uint32_t type, std::string_view text, std::vector<std::byte>* out) {
  std::string body;
  FieldWriter(&body).String(text);
  AddRecord(type, body, out);
}

// Returns `stream` with `records` before all of its own records.
std::vector<std::byte> Behind(const std::vector<std::byte>& records,
                              std::vector<std::byte> stream) {
  stream.insert(stream.begin() + kPipeHeaderSize, records.begin(), records.end());
  return stream;
}

TEST(OldStreamTest, OfAnOldChromeOsStreamHasItsFeaturesInFrontOfTheEvents) {
  std::vector<std::byte> front;
  for (uint32_t type = 69; type <= 81; ++type) {
    AddChromeOsFeature(type, "value " + std::to_string(type), &front);
  }
  const std::vector<std::byte> stream = Behind(front, PerfsPart());
  std::string expected;
  for (int i = 0; i < 13; ++i) expected += "FEATURE, ";
  expected += kPerfsPart;
  const std::string path = TestPath("chromeos.data");
  WriteFile(path, stream);
  EXPECT_EQ(ToldFile(path, Order::kTime), expected);
  EXPECT_EQ(ToldPipe(stream, Order::kTime, 7), expected);
  auto recording = Recording::Open(path);
  ASSERT_TRUE(recording.ok());
  EXPECT_EQ((*recording)->features().version, "value 71");
  EXPECT_EQ((*recording)->features().arch, "value 72");
  EXPECT_EQ((*recording)->features().cpudesc, "value 74");
}

TEST(OldStreamTest, OfTheOtherByteOrderHasItsFeaturesAsWell) {
  std::string feature, stream = "2ELIFREP";
  FieldWriter(&feature, /*swapped=*/true).String("pasemi");
  FieldWriter writer(&stream, /*swapped=*/true);
  writer.U64(kPipeHeaderSize);
  writer.U32(69);
  writer.Write<uint16_t>(0);
  writer.Write(static_cast<uint16_t>(sizeof(perf_event::RecordHeader) + feature.size()));
  writer.Text(feature);
  const std::string path = TestPath("big_endian.data");
  WriteFile(path, BytesOfText(stream));
  auto recording = Recording::Open(path);
  ASSERT_TRUE(recording.ok());
  EXPECT_EQ((*recording)->features().hostname, "pasemi");
  EXPECT_EQ(Told(**recording, Order::kFile), "FEATURE");
}

TEST(OldStreamTest, OfChromeOsHasEachFeatureOnce) {
  std::vector<std::byte> front;
  for (const uint32_t type : {69, 69, 77, 70}) AddChromeOsFeature(type, "a value", &front);
  const std::string path = TestPath("repeated.data");
  WriteFile(path, Behind(front, PerfsPart()));
  EXPECT_EQ(ToldFile(path, Order::kFile),
            "FEATURE, type 69, FEATURE, type 70, " + std::string(kPerfsPart));
}

TEST(OldStreamTest, OfAnyOtherStreamHasPerfsMeaningOfAType) {
  // perf 4.16 wrote HEADER_FEATURE before the events.
  std::string feature;
  FieldWriter(&feature).U64(kFeatureArch);
  FieldWriter(&feature).String("sparc");
  std::vector<std::byte> front;
  AddRecord(perf_event::kRecordHeaderFeature, feature, &front);
  // After the events, this type means AUXTRACE, as in perf. A trace follows that record.
  std::string auxtrace;
  FieldWriter(&auxtrace).U64(16);
  auxtrace.resize(40);
  std::vector<std::byte> stream = Behind(front, PerfsPart());
  AddRecord(perf_event::kRecordAuxtrace, auxtrace, &stream);
  stream.resize(stream.size() + 16);
  const std::string path = TestPath("perfs_types.data");
  WriteFile(path, stream);
  EXPECT_EQ(ToldFile(path, Order::kFile),
            "FEATURE, ATTR, UPDATE, FEATURE, 10 SAMPLE, AUXTRACE +16");
  auto recording = Recording::Open(path);
  ASSERT_TRUE(recording.ok());
  EXPECT_EQ((*recording)->features().arch, "sparc");
}

// Appends an EVENT_TYPE record. Before Linux 3.12, perf wrote one for each event.
void AddEventType(uint64_t config, std::string name, std::vector<std::byte>* out) {
  std::string body;
  FieldWriter(&body).U64(config);
  name.resize(kEventTypeNameSize);
  AddRecord(perf_event::kRecordHeaderEventType, body + name, out);
}

std::string NamesOf(const std::vector<std::byte>& stream) {
  const std::string path = TestPath("named.data");
  WriteFile(path, stream);
  auto recording = Recording::Open(path);
  if (!recording.ok()) return std::string(recording.status().message());
  std::string names;
  for (const EventDescription& event : (*recording)->events()) names += event.name + "\n";
  return names;
}

// Appends a HEADER_ATTR record, which does not contain the name of its event.
void AddAttr(uint32_t type, uint64_t config, uint64_t flags, std::vector<std::byte>* out) {
  perf_event::Attr attr{.type = type, .config = config};
  attr.flags = flags;
  attr.size = sizeof(attr);
  std::string body(reinterpret_cast<const char*>(&attr), sizeof(attr));
  AddRecord(perf_event::kRecordHeaderAttr, body, out);
}

std::vector<std::byte> EmptyStream() {
  const std::vector<std::byte> stream = StreamOf({}, {});
  return {stream.begin(), stream.begin() + kPipeHeaderSize};
}

TEST(OldStreamTest, EventTypesNameEventsOfTheirTypeAndConfig) {
  std::vector<std::byte> stream = EmptyStream();
  AddAttr(perf_event::kTypeSoftware, 0, 0, &stream);
  AddAttr(perf_event::kTypeTracepoint, 0, 0, &stream);
  AddAttr(perf_event::kTypeTracepoint, 0x531, 0, &stream);
  AddEventType(0, "cycles", &stream);
  AddEventType(0x531, "probe:main", &stream);
  EXPECT_EQ(NamesOf(stream), "cpu-clock\ntracepoint:0\nprobe:main\n");
}

TEST(OldStreamTest, GenericEventsKeepTheirModifiers) {
  std::vector<std::byte> stream = EmptyStream();
  AddAttr(perf_event::kTypeHardware, 0, perf_event::kAttrExcludeGuest, &stream);
  AddEventType(0, "cycles", &stream);
  EXPECT_EQ(NamesOf(stream), "cycles:H\n");
}

TEST(OldStreamTest, TracingDataNamesTracepoints) {
  std::string section("\x17\x08\x44tracing0.6", 13);
  section += std::string("\0\0\x08\0\x10\0\0", 7);  // little endian, 8-byte long, pages
  FieldWriter writer(&section);
  for (const std::string_view name : {"header_page", "header_event"}) {
    section += std::string(name) + '\0';
    writer.U64(0);
  }
  writer.U32(0);
  writer.U32(1);
  section += std::string("probe_app\0", 10);
  writer.U32(1);
  const std::string format = "name: main\nID: 1329\nformat:\n";
  writer.U64(format.size());
  section += format;
  section.resize((section.size() + 7) / 8 * 8);
  std::vector<std::byte> stream = EmptyStream();
  AddAttr(perf_event::kTypeTracepoint, 1329, 0, &stream);
  AddAttr(perf_event::kTypeTracepoint, 1330, 0, &stream);
  std::string body;
  FieldWriter(&body).U32(static_cast<uint32_t>(section.size()));
  AddRecord(perf_event::kRecordHeaderTracingData, body, &stream);
  const auto payload = BytesOfText(section);
  stream.insert(stream.end(), payload.begin(), payload.end());
  EXPECT_EQ(NamesOf(stream), "probe_app:main\ntracepoint:1330\n");
}

TEST(OldStreamTest, TheEndOfTheFeaturesIsNoFeature) {
  std::string end;
  FieldWriter(&end).U64(32);
  std::vector<std::byte> stream = PerfsPart();
  AddRecord(perf_event::kRecordHeaderFeature, end, &stream);
  const std::string path = TestPath("end.data");
  WriteFile(path, stream);
  auto recording = Recording::Open(path);
  ASSERT_TRUE(recording.ok());
  EXPECT_FALSE((*recording)->features().other.contains(32));
}

TEST(OldStreamTest, AuxDataAreCountedOnce) {
  std::string info, auxtrace;
  FieldWriter(&info).U32(1);
  FieldWriter(&info).U32(0);
  FieldWriter(&auxtrace).U64(16);
  auxtrace.resize(40);
  std::vector<std::byte> stream = PerfsPart();
  AddRecord(perf_event::kRecordAuxtraceInfo, info, &stream);
  AddRecord(perf_event::kRecordAuxtrace, auxtrace, &stream);
  stream.resize(stream.size() + 16);
  const std::string path = TestPath("aux.data");
  WriteFile(path, stream);
  auto recording = Recording::Open(path);
  ASSERT_TRUE(recording.ok());
  for (int pass = 0; pass < 2; ++pass) Told(**recording, Order::kTime);
  EXPECT_EQ((*recording)->features().aux_data, (AuxData{.type = 1, .bytes = 16}));
}

}  // namespace
}  // namespace profiler::perf_data
