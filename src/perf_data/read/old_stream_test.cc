// Tests streams of perfs that gave types from 69 on another meaning.

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/byte_reader.h"
#include "src/perf_data/format/field_io.h"
#include "src/perf_data/format/perf_data_format.h"
#include "src/perf_data/read/recording.h"
#include "src/perf_data/recording_builder.h"
#include "src/perf_event/abi.h"

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
  // After the events, AUXTRACE has perf's meaning and a trace.
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

}  // namespace
}  // namespace profiler::perf_data
