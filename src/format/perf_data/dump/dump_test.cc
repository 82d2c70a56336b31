#include "src/format/perf_data/dump/dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_event/abi.h"

namespace profiler::perf_data {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string DumpOf(const std::string& path, const DumpOptions& options = {}) {
  auto recording = Recording::Open(path);
  if (!recording.ok()) return "! " + std::string(recording.status().message());
  std::string text;
  const absl::Status status =
      Dump(**recording, options, [&](std::string_view piece) { text += piece; });
  if (!status.ok()) text += "! " + std::string(status.message());
  return text;
}

// Returns the lines of records, without their offsets: "MMAP2 (10) …".
std::string RecordLines(const std::string& dump) {
  std::string lines;
  size_t begin = 0;
  while (begin < dump.size()) {
    const size_t end = std::min(dump.find('\n', begin), dump.size());
    const std::string line = dump.substr(begin, end - begin);
    if (line.starts_with("0x")) lines += line.substr(line.find(": ") + 2) + "\n";
    begin = end + 1;
  }
  return lines;
}

// A builder of a stream in the other byte order, from numbers and texts.
class ForeignStream {
 public:
  ForeignStream() { Number(kMagic2, 8).Number(kPipeHeaderSize, 8); }

  ForeignStream& Number(uint64_t value, int width) {
    for (int i = width - 1; i >= 0; --i) bytes_.push_back(std::byte(value >> (8 * i) & 0xff));
    return *this;
  }
  ForeignStream& Text(std::string_view text, size_t size) {
    for (size_t i = 0; i < size; ++i) bytes_.push_back(std::byte(i < text.size() ? text[i] : 0));
    return *this;
  }
  ForeignStream& Record(uint32_t type, uint16_t size) {
    return Number(type, 4).Number(0, 2).Number(size, 2);
  }
  std::string Dumped() {
    const std::string path = TestPath("foreign");
    WriteFile(path, bytes_);
    return DumpOf(path);
  }

 private:
  std::vector<std::byte> bytes_;
};

TEST(Dump, NamesEveryFeatureOfPerf) {
  Features features;
  for (const NamedFeature& feature : kNamedFeatures) features.other[feature.bit] = "12345678";
  const std::string path = TestPath("features");
  auto writer = Writer::Create(path, {{UsualAttr(), "cpu-clock", {1}}}, size_t{0});
  ASSERT_TRUE(writer.ok() && (*writer)->Finish(features).ok());
  const std::string dump = DumpOf(path);
  EXPECT_THAT(dump, HasSubstr("feature 33 E_MACHINE: offset 0x"));
  EXPECT_THAT(dump, HasSubstr("feature 34 CLN_SIZE: offset 0x"));
  EXPECT_THAT(dump, Not(HasSubstr("unknown")));
}

TEST(Dump, ShowsHeaderEventsAndFeatures) {
  const std::string path = TestPath("usual");
  WriteUsualRecording(path);
  const std::string dump = DumpOf(path);
  EXPECT_THAT(dump, HasSubstr("header\n  version           2\n"));
  EXPECT_THAT(dump, HasSubstr("event 0 cpu-clock\n"));
  EXPECT_THAT(dump, HasSubstr("IP|TID|TIME|CALLCHAIN|CPU|PERIOD|IDENTIFIER\n"));
  EXPECT_THAT(dump, HasSubstr("feature 3 HOSTNAME: offset 0x"));
  EXPECT_THAT(dump, HasSubstr("feature 200 CHAIN_QUALITY: offset 0x"));
}

TEST(Dump, ShowsEveryRecordInTheOrderOfTheFile) {
  const std::string path = TestPath("usual");
  WriteUsualRecording(path);
  const std::string dump = DumpOf(path);
  const std::string lines = RecordLines(dump);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2 + kUsualSamples + 3) << lines;
  EXPECT_THAT(lines, testing::StartsWith("COMM (3) misc 0 size "));
  EXPECT_THAT(lines, HasSubstr("SAMPLE (9) misc 0x2 USER size "));
  EXPECT_THAT(lines, testing::EndsWith("FINISHED_ROUND (68) misc 0 size 8\n"));
  EXPECT_THAT(dump, HasSubstr("    comm                \"cat\"\n"));
  EXPECT_THAT(dump, HasSubstr("      0x1adb0\n      0x1234\n"));
}

TEST(Dump, ShowsOnlyWhatIsAskedFor) {
  const std::string path = TestPath("usual");
  WriteUsualRecording(path);
  const std::string samples = RecordLines(
      DumpOf(path, {.types = {perf_event::kRecordSample}, .max_records = 2, .hex = true}));
  EXPECT_EQ(std::count(samples.begin(), samples.end(), '\n'), 2);
  EXPECT_THAT(samples, Not(HasSubstr("COMM")));
  EXPECT_THAT(DumpOf(path, {.types = {perf_event::kRecordFinishedRound}, .hex = true}),
              HasSubstr("    0000:  44 00 00 00 00 00 08 00                          D.......\n"));
}

TEST(Dump, ReadsNoFurtherThanWhatIsAskedFor) {
  const perf_event::Attr attr = UsualAttr();
  perf_event::RecordBuilder records(attr);
  records.By(7, 7).Comm("cat").Comm("dog");
  std::vector<std::byte> bytes(records.bytes().begin(), records.bytes().end());
  AddRecord(900, "", &bytes);
  bytes.resize(bytes.size() + 8);  // a record of size 0
  const std::string path = TestPath("broken");
  WriteFile(path, StreamOf({{attr, "my-event", {}}}, bytes));
  DumpOptions options = {.types = {perf_event::kRecordComm}};
  EXPECT_THAT(DumpOf(path, options), HasSubstr("! "));
  options.max_records = 2;
  const std::string dump = DumpOf(path, options);
  EXPECT_THAT(dump, Not(HasSubstr("! ")));
  EXPECT_THAT(dump, Not(HasSubstr("unknown type")));
  EXPECT_THAT(dump, HasSubstr("\"dog\""));
  options.max_records = 0;
  EXPECT_EQ(RecordLines(DumpOf(path, options)), "");
}

TEST(Dump, ReadsRecordTypesByNameAndByNumber) {
  EXPECT_EQ(*ParseRecordType("mmap2"), 10u);
  EXPECT_EQ(*ParseRecordType("PERF_RECORD_Comm"), 3u);
  EXPECT_EQ(*ParseRecordType("feature"), 80u);
  EXPECT_EQ(*ParseRecordType("4711"), 4711u);
  EXPECT_EQ(ParseRecordType("mmap3").status().message(), "\"mmap3\" is not a record type");
}

TEST(Dump, OfACutRecordingEndsWithWhatCouldBeRead) {
  const std::string path = TestPath("usual");
  WriteUsualRecording(path);
  const std::vector<std::byte> bytes = ReadFile(path);
  size_t longest = 0;
  for (size_t size = 104; size < bytes.size(); size += 31) {
    WriteFile(path, std::span(bytes).first(size));
    const std::string dump = DumpOf(path);
    const size_t records = RecordLines(dump).size();
    EXPECT_GE(records, longest) << size;
    longest = records;
  }
  EXPECT_GT(longest, 0u);
}

TEST(Dump, NamesWhatAStreamSaysOfItself) {
  const perf_event::Attr attr = UsualAttr();
  perf_event::RecordBuilder records(attr);
  records.By(7, 7).Comm("cat");
  const std::string path = TestPath("stream");
  WriteFile(path, StreamOf({{attr, "my-event", {1, 2}}}, records.bytes()));
  const std::string dump = DumpOf(path);
  EXPECT_THAT(dump, HasSubstr("  layout            stream\nevent 0 my-event\n"));
  EXPECT_THAT(dump, HasSubstr("    text                \"my-event\"\n"));
  EXPECT_THAT(dump, HasSubstr("    (feature)           HOSTNAME\n"));
  EXPECT_THAT(RecordLines(dump), HasSubstr("ATTR (64)"));
}

TEST(Dump, ATerminalTakesNoNameOfAnEventForACommand) {
  const std::string path = TestPath("name");
  WriteFile(path, StreamOf({{UsualAttr(), "a\x1b[2Jb\n0x0: c", {1}}}, {}));
  EXPECT_THAT(DumpOf(path), HasSubstr("event 0 a\\033[2Jb\\n0x0: c\n"));
}

TEST(Dump, CountsUnknownRecordsAndShowsTheirBytes) {
  const perf_event::Attr attr = UsualAttr();
  std::vector<std::byte> unknown;
  AddRecord(50, "0123456789abcdef", &unknown);
  AddRecord(900, "01234567", &unknown);
  AddRecord(900, "01234567", &unknown);
  const std::string path = TestPath("unknown");
  WriteFile(path, StreamOf({{attr, "my-event", {}}}, unknown));
  const std::string dump = DumpOf(path);
  EXPECT_THAT(RecordLines(dump), HasSubstr("unknown (50) misc 0 size 24\nunknown (900)"));
  EXPECT_THAT(dump, HasSubstr("    (bytes)             30313233343536373839616263646566\n"));
  EXPECT_THAT(dump, HasSubstr("1 records of the unknown type 50\n"
                              "2 records of the unknown type 900\n"));
}

TEST(Dump, TurnsTheFieldsOfPerfsOwnRecordsOfTheOtherByteOrder) {
  ForeignStream stream;
  stream.Record(perf_event::kRecordCpuMap, 8 + 6).Number(0, 2).Number(1, 2).Number(3, 2);
  stream.Record(perf_event::kRecordEventUpdate, 8 + 16 + 14).Number(3, 8).Number(9, 8);
  stream.Number(1, 2).Number(1, 2).Number(8, 2).Number(0, 4).Number(0x1f, 4);  // a truncated mask
  stream.Record(perf_event::kRecordTimeConv, 8 + 48);
  for (int i = 1; i <= 5; ++i) stream.Number(i, 8);
  stream.Number(1, 1).Number(0, 1).Number(0, 6);
  stream.Record(perf_event::kRecordBpfMetadata, 8 + 512 + 8 + 320);
  stream.Text("prog", 512).Number(1, 8).Text("key", 64).Text("value", 256);
  stream.Record(perf_event::kRecordSchedstatDomain, 8 + 16 + 4);
  stream.Number(1000, 8).Number(2, 4).Number(17, 2).Number(1, 2).Number(77, 4);
  stream.Record(perf_event::kRecordSchedstatCpu, 8 + 16 + 4);
  stream.Number(1000, 8).Number(2, 4).Number(15, 2).Number(0, 2).Number(5, 4);
  const std::string dump = stream.Dumped();
  EXPECT_THAT(dump, HasSubstr("    nr                  1\n    cpu                 3\n"));
  EXPECT_THAT(dump, HasSubstr("    long_size           8\n"));
  EXPECT_THAT(dump, HasSubstr("    time_mask           0x5\n    cap_user_time_zero  1\n"));
  EXPECT_THAT(dump,
              HasSubstr("    prog_name           \"prog\"\n    nr_entries          1\n"
                        "    key                 \"key\"\n    value               \"value\"\n"));
  EXPECT_THAT(dump, HasSubstr("    version             17\n    domain              1\n"
                              "    count               77\n"));
  EXPECT_THAT(dump, HasSubstr("    yld_count           5\n"));
}

}  // namespace
}  // namespace profiler::perf_data
