#include "src/format/perf_event/record_line.h"

#include <cstring>
#include <vector>

#include "gtest/gtest.h"

namespace profiler::perf_event {
namespace {

template <class Record>
std::string LineOf(uint32_t type, uint16_t misc, const Record& record) {
  const RecordLayout layout;
  std::vector<std::byte> bytes;
  EXPECT_TRUE(Encode(type, misc, layout, record, &bytes));
  return RecordLine(RawRecord(bytes), layout);
}

TEST(RecordLineTest, TasksSayWhoTheyAre) {
  EXPECT_EQ(LineOf(kRecordComm, 0, Comm{.pid = 1, .tid = 2, .comm = "a\nb"}),
            "PERF_RECORD_COMM: a?b:1/2\n");
  EXPECT_EQ(LineOf(kRecordComm, kMiscCommExec, Comm{.pid = 1, .tid = 2, .comm = "ls"}),
            "PERF_RECORD_COMM exec: ls:1/2\n");
  EXPECT_EQ(LineOf(kRecordFork, 0, Task{.pid = 1, .ppid = 3, .tid = 2, .ptid = 4}),
            "PERF_RECORD_FORK(1:2):(3:4)\n");
}

TEST(RecordLineTest, MappingsSayWhatOfWhichFile) {
  EXPECT_EQ(LineOf(kRecordMmap, 0, Mmap{.pid = 0xffffffff, .addr = 0x1000, .filename = "[k]"}),
            "PERF_RECORD_MMAP -1/0: [0x1000(0) @ 0]: x [k]\n");
  Mmap2 mmap{.pid = 1, .tid = 1, .addr = 0x10, .len = 0x20, .pgoff = 0x30, .maj = 8, .min = 1};
  mmap.ino = 99;
  mmap.prot = 5;
  mmap.flags = 2;
  mmap.filename = "/bin/x";
  EXPECT_EQ(LineOf(kRecordMmap2, 0, mmap),
            "PERF_RECORD_MMAP2 1/1: [0x10(0x20) @ 0x30 08:01 99 0]: r-xp /bin/x\n");
  const std::vector<std::byte> id(2, std::byte{0xab});
  mmap.build_id = id;
  EXPECT_EQ(LineOf(kRecordMmap2, kMiscMmapBuildId, mmap),
            "PERF_RECORD_MMAP2 1/1: [0x10(0x20) @ 0x30 <abab>]: r-xp /bin/x\n");
}

TEST(RecordLineTest, SwitchesSayTheirDirection) {
  EXPECT_EQ(LineOf(kRecordSwitch, 0, Switch{}), "PERF_RECORD_SWITCH IN         \n");
  EXPECT_EQ(LineOf(kRecordSwitchCpuWide, 0x6000, SwitchCpuWide{7, 8, {}}),
            "PERF_RECORD_SWITCH_CPU_WIDE OUT preempt  next pid/tid:     7/8    \n");
}

TEST(RecordLineTest, NamespacesStandFourInALine) {
  const std::vector<uint64_t> links = {3, 0xa, 3, 0xb, 3, 0xc, 3, 0xd, 3, 0};
  EXPECT_EQ(
      LineOf(kRecordNamespaces, 0, Namespaces{1, 2, U64Array(std::as_bytes(std::span(links))), {}}),
      "PERF_RECORD_NAMESPACES 1/2 - nr_namespaces: 5\n"
      "\t\t[0/net: 3/0xa, 1/uts: 3/0xb, 2/ipc: 3/0xc, 3/pid: 3/0xd, \n"
      "\t\t 4/user: 3/0]\n");
}

TEST(RecordLineTest, TheSubjectIsTheRecordsOwnThreadAndTheWriterThatOfItsSampleId) {
  RecordLayout layout(Attr{.sample_type = kSampleTid | kSampleTime, .flags = kAttrSampleIdAll});
  Comm comm{.pid = 1, .tid = 2, .comm = "ls", .sample_id = {.pid = 3, .tid = 4, .time = 5}};
  std::vector<std::byte> bytes;
  ASSERT_TRUE(Encode(kRecordComm, 0, layout, comm, &bytes));
  RecordSubject subject;
  ASSERT_TRUE(SubjectOf(RawRecord(bytes), layout, &subject));
  EXPECT_EQ(subject.tid, 2u);
  EXPECT_EQ(subject.written.tid, 4u);
  EXPECT_EQ(subject.written.time, 5u);

  layout = RecordLayout();
  bytes.clear();
  ASSERT_TRUE(Encode(kRecordFork, 0, layout, Task{.pid = 1, .tid = 2, .time = 9}, &bytes));
  ASSERT_TRUE(SubjectOf(RawRecord(bytes), layout, &subject));
  EXPECT_EQ(subject.written.pid, 1u);
  EXPECT_EQ(subject.written.time, 9u);
  bytes.clear();
  ASSERT_TRUE(Encode(kRecordSample, 0, layout, Sample{}, &bytes));
  EXPECT_FALSE(SubjectOf(RawRecord(bytes), layout, &subject));
}

TEST(RecordLineTest, ARecordThatIsCutIsNamedAlone) {
  std::vector<std::byte> bytes(12);
  const RecordHeader header{kRecordLost, 0, 12};
  std::memcpy(bytes.data(), &header, sizeof(header));
  EXPECT_EQ(RecordLine(RawRecord(bytes), RecordLayout()), "PERF_RECORD_LOST\n");
}

}  // namespace
}  // namespace profiler::perf_event
