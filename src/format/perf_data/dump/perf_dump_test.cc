#include "src/format/perf_data/dump/perf_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_event/abi.h"

namespace profiler::perf_data {
namespace {

using perf_event::RecordBuilder;
using testing::HasSubstr;

constexpr uint64_t kFields = perf_event::kSampleIp | perf_event::kSampleTid |
                             perf_event::kSampleTime | perf_event::kSampleCpu |
                             perf_event::kSamplePeriod;

std::string DumpOf(const std::string& path) {
  auto recording = Recording::Open(path);
  if (!recording.ok()) return "! " + std::string(recording.status().message());
  std::string text;
  const absl::Status status =
      DumpAsPerf(**recording, "perf.data", [&](std::string_view piece) { text += piece; });
  if (!status.ok()) text += "! " + std::string(status.message());
  return text;
}

std::string DumpOfStream(const RecordBuilder& records) {
  const std::string path = TestPath("stream");
  WriteFile(path, StreamOf({{records.attr(), "my-event", {}}}, records.bytes()));
  return DumpOf(path);
}

// Returns each line that has a record's name, without the text before the name.
std::string NamesOf(const std::string& dump) {
  std::string names;
  for (size_t at = dump.find("PERF_RECORD_"); at != std::string::npos;
       at = dump.find("PERF_RECORD_", at)) {
    const size_t end = dump.find('\n', at);
    names += dump.substr(at, end - at) + "\n";
    at = end;
  }
  return names;
}

TEST(PerfDump, HasPerfsLinesAndTheBytesOfEachRecord) {
  RecordBuilder records(perf_event::SampleAttr(kFields));
  records.At(20).By(7, 8).On(3).Period(250000).Sample(0x1234);
  EXPECT_THAT(DumpOfStream(records), HasSubstr(R"(@pipe [0x30]: event: 9
.
. ... raw event: size 48 bytes
.  0000:  09 00 00 00 02 00 30 00 34 12 00 00 00 00 00 00  ......0.4.......
.  0010:  07 00 00 00 08 00 00 00 14 00 00 00 00 00 00 00  ................
.  0020:  03 00 00 00 00 00 00 00 90 d0 03 00 00 00 00 00  ................

3 20 )"));
  EXPECT_THAT(DumpOfStream(records),
              HasSubstr(" [0x30]: PERF_RECORD_SAMPLE(IP, 0x2): 7/8: 0x1234 period: 250000 "
                        "addr: 0\n ... thread: :8:8\n"));
}

TEST(PerfDump, ShowsRecordsByTimeAndTheThreadsNameAtThatTime) {
  RecordBuilder records(perf_event::SampleAttr(kFields));
  records.By(7, 7).At(30).Sample(0x30).At(10).Comm("before").At(20).Sample(0x20);
  records.At(25).Comm("after", /*exec=*/true).At(26).Fork(8, 8).At(27).Exit();
  const std::string dump = DumpOfStream(records);
  EXPECT_THAT(NamesOf(dump), HasSubstr(R"(PERF_RECORD_COMM: before:7/7
PERF_RECORD_SAMPLE(IP, 0x2): 7/7: 0x20 period: 1 addr: 0
PERF_RECORD_COMM exec: after:7/7
PERF_RECORD_FORK(8:8):(7:7)
PERF_RECORD_EXIT(7:7):(7:7)
PERF_RECORD_SAMPLE(IP, 0x2): 7/7: 0x30 period: 1 addr: 0
)"));
  EXPECT_THAT(dump, HasSubstr("0x20 period: 1 addr: 0\n ... thread: before:7\n"));
  EXPECT_THAT(dump, HasSubstr("0x30 period: 1 addr: 0\n ... thread: after:7\n"));
}

TEST(PerfDump, ShowsTheEndOfEachRound) {
  const std::string path = TestPath("usual");
  ASSERT_NE(WriteUsualRecording(path), nullptr);
  const std::string names = NamesOf(DumpOf(path));
  EXPECT_THAT(names, HasSubstr("PERF_RECORD_FINISHED_ROUND\n"));
}

TEST(PerfDump, ShowsChainsLossesAndThrottlingAsPerf) {
  RecordBuilder records(
      perf_event::SampleAttr(kFields | perf_event::kSampleCallchain | perf_event::kSampleId));
  records.At(1).By(7, 7).Id(5).Sample(0x20, {perf_event::kContextUser, 0x20}).Lost(3);
  records.LostSamples(4).Throttle();
  const std::string dump = DumpOfStream(records);
  EXPECT_THAT(dump, HasSubstr("... FP chain: nr:2\n"
                              ".....  0: fffffffffffffe00 (PERF_CONTEXT_USER)\n"
                              ".....  1: 0000000000000020\n"));
  EXPECT_THAT(NamesOf(dump), HasSubstr("PERF_RECORD_LOST: id:5: lost:3\n"
                                       "PERF_RECORD_LOST_SAMPLES: id:5: lost samples :4\n"
                                       "PERF_RECORD_THROTTLE: unhandled!\n"));
}

TEST(PerfDump, AStreamHasNoTimesInFrontOfItsEvents) {
  RecordBuilder records(perf_event::SampleAttr(kFields));
  records.At(1).By(7, 7).Sample(0x20);
  const std::string dump = DumpOfStream(records);
  EXPECT_THAT(dump, HasSubstr("\n-1 -1 0 ["));
  EXPECT_THAT(dump, HasSubstr("]: PERF_RECORD_ATTR, type = 1 (PERF_TYPE_SOFTWARE), size = "));
  EXPECT_THAT(dump, HasSubstr("]: PERF_RECORD_FEATURE, # hostname : "));
}

// Appends numbers, each as (value, bytes).
std::string Numbers(std::initializer_list<std::pair<uint64_t, size_t>> numbers) {
  std::string bytes;
  for (const auto& [value, size] : numbers) {
    for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * i);
  }
  return bytes;
}

TEST(PerfDump, ShowsTheFieldsOfPerfsOwnRecords) {
  constexpr uint64_t kAny = UINT64_MAX;  // -1
  std::vector<std::byte> records;
  AddRecord(perf_event::kRecordIdIndex,
            Numbers({{2, 8}, {11, 8}, {0, 8}, {3, 8}, {kAny, 8}, {12, 8}, {1, 8}, {4, 8}, {7, 8}}),
            &records);
  AddRecord(perf_event::kRecordThreadMap,
            Numbers({{2, 8}, {70, 8}, {0, 8}, {0, 8}, {71, 8}, {0, 8}, {0, 8}}), &records);
  AddRecord(perf_event::kRecordCpuMap,
            Numbers({{0, 2}, {4, 2}, {0, 2}, {1, 2}, {2, 2}, {5, 2}, {0, 4}}), &records);
  AddRecord(perf_event::kRecordCpuMap, Numbers({{1, 2}, {1, 2}, {8, 2}, {0, 4}, {0x1f, 8}, {0, 6}}),
            &records);
  AddRecord(perf_event::kRecordCpuMap, Numbers({{2, 2}, {0, 1}, {0, 1}, {4, 2}, {6, 2}}), &records);
  AddRecord(perf_event::kRecordEventUpdate,
            Numbers({{kEventUpdateUnit, 8}, {9, 8}}) + std::string("Joules\0\0", 8), &records);
  AddRecord(perf_event::kRecordEventUpdate,
            Numbers({{kEventUpdateCpus, 8}, {9, 8}, {0, 2}, {1, 2}, {3, 2}, {0, 2}}), &records);
  AddRecord(perf_event::kRecordEventUpdate, Numbers({{77, 8}, {9, 8}, {0, 8}}), &records);
  AddRecord(perf_event::kRecordTimeConv,
            Numbers({{1, 8}, {2, 8}, {3, 8}, {4, 8}, {15, 8}, {1, 1}, {0, 1}, {0, 6}}), &records);
  const std::string path = TestPath("own");
  WriteFile(path, StreamOf({{perf_event::SampleAttr(kFields), "my-event", {}}}, records));
  const std::string dump = DumpOf(path);
  EXPECT_THAT(dump, HasSubstr("PERF_RECORD_ID_INDEX nr: 2\n"
                              " ... id: 11  idx: 0  cpu: 3  tid: -1\n"
                              " ... id: 12  idx: 1  cpu: 4  tid: 7\n"));
  EXPECT_THAT(dump, HasSubstr("PERF_RECORD_THREAD_MAP nr: 2 threads: 70, 71\n: unhandled!\n"));
  EXPECT_THAT(dump, HasSubstr("PERF_RECORD_CPU_MAP: 0-2,5\n: unhandled!\n"));
  EXPECT_THAT(dump, HasSubstr("PERF_RECORD_CPU_MAP: 0-4\n: unhandled!\n"));
  EXPECT_THAT(dump, HasSubstr("PERF_RECORD_CPU_MAP: 4-6\n: unhandled!\n"));
  EXPECT_THAT(dump, HasSubstr("PERF_RECORD_EVENT_UPDATE\n... id:    9\n... unit:  Joules\n"));
  EXPECT_THAT(dump, HasSubstr("PERF_RECORD_EVENT_UPDATE\n... id:    9\n... 3\n"));
  EXPECT_THAT(dump, HasSubstr("PERF_RECORD_EVENT_UPDATE\n... id:    9\n... unknown type \n"));
  EXPECT_THAT(dump, HasSubstr("PERF_RECORD_TIME_CONV\n... Time Shift      1\n"
                              "... Time Multiplier 2\n... Time Zero       3\n"
                              "... Time Cycles     4\n... Time Mask       0xf\n"
                              "... Cap Time Zero   1\n... Cap Time Short  0\n: unhandled!\n"));
}

TEST(PerfDump, ShowsACopiedStackByItsPlaceInTheRecord) {
  perf_event::Attr attr =
      perf_event::SampleAttr(perf_event::kSampleIp | perf_event::kSampleStackUser);
  attr.sample_stack_user = 16;
  RecordBuilder records(attr);
  const std::byte stack[16] = {};
  records.Add(perf_event::kRecordSample, perf_event::kMiscUser,
              perf_event::Sample{.ip = 0x20, .user_stack = stack, .user_stack_size = 16});
  EXPECT_THAT(DumpOfStream(records), HasSubstr("... ustack: size 16, offset 0x10\n"));
}

TEST(PerfDump, ShowsNoControlCharactersOfNames) {
  RecordBuilder records(perf_event::SampleAttr(kFields));
  records.At(1).By(7, 7).Comm("a\x1b[2J\n").Sample(0x20);
  const std::string dump = DumpOfStream(records);
  EXPECT_THAT(dump, HasSubstr("PERF_RECORD_COMM: a?[2J?:7/7\n"));
  EXPECT_THAT(dump, HasSubstr(" ... thread: a?[2J?:7\n"));
}

}  // namespace
}  // namespace profiler::perf_data
