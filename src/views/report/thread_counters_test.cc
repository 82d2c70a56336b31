#include "src/views/report/thread_counters.h"

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/testing/record_builder.h"

namespace profiler::report {
namespace {

using perf_event::kFormatGroup;
using perf_event::kFormatId;
using perf_event::RecordBuilder;

perf_event::Attr AttrReadAs(uint64_t read_format) {
  perf_event::Attr attr = perf_event::SampleAttr(perf_event::kSampleIp | perf_event::kSampleTid |
                                                 perf_event::kSampleTime | perf_event::kSampleId);
  attr.read_format = read_format;
  return attr;
}

class ThreadCountersTest : public testing::Test {
 protected:
  explicit ThreadCountersTest(uint64_t read_format = 0) : records_(AttrReadAs(read_format)) {}

  // Adds a READ record of a thread for the event with that id.
  void Read(uint32_t pid, uint32_t tid, uint64_t id, std::initializer_list<uint64_t> words) {
    const std::vector<uint64_t> values(words);
    records_.Add(perf_event::kRecordRead, 0,
                 perf_event::Read{.pid = pid,
                                  .tid = tid,
                                  .values = perf_event::U64Array(std::as_bytes(std::span(values))),
                                  .sample_id = {.pid = pid, .tid = tid, .time = 1, .id = id}});
  }

  // Returns the table for "cycles" (ids 1 and 2) and "page-faults" (id 3).
  std::string Text() const {
    const std::string path = perf_data::TestPath("read");
    std::vector<std::byte> records(records_.bytes().begin(), records_.bytes().end());
    records.insert(records.end(), behind_.begin(), behind_.end());
    perf_data::WriteFile(path, perf_data::StreamOf({{records_.attr(), "cycles", {1, 2}},
                                                    {records_.attr(), "page-faults", {3}}},
                                                   records));
    auto recording = perf_data::Recording::Open(path);
    EXPECT_TRUE(recording.ok()) << recording.status();
    ThreadCounters counters;
    const auto take = [&](const perf_data::TimedRecord& timed) {
      counters.Take(**recording, timed);
    };
    EXPECT_TRUE((*recording)->ForEach(perf_data::Recording::Order::kTime, take).ok());
    return counters.Text(**recording);
  }

  RecordBuilder records_;
  std::vector<std::byte> behind_;  // further records, after records_
};

TEST_F(ThreadCountersTest, HasAColumnForEachEventThatWasReadAndALineForEachThread) {
  Read(7, 8, 1, {1000});
  Read(7, 7, 3, {12});
  Read(123456, 123456, 1, {5});
  EXPECT_EQ(Text(),
            "#    PID     TID  cycles  page-faults\n"
            "       7       7       0           12\n"
            "       7       8    1000            0\n"
            "  123456  123456       5            0\n");
}

TEST_F(ThreadCountersTest, WhatAThreadCountedOnSeveralCpusIsAdded) {
  Read(7, 7, 1, {1000});
  Read(7, 7, 2, {12345678});
  EXPECT_EQ(Text(),
            "# PID  TID    cycles\n"
            "    7    7  12346678\n");
}

TEST_F(ThreadCountersTest, ShowsTheHeadingsAloneWhereNothingWasRead) {
  records_.At(10).By(7, 7).Comm("cat").Sample(0x1234);
  EXPECT_EQ(Text(), "# PID  TID\n");
}

TEST_F(ThreadCountersTest, ARecordThatIsTooShortTellsOfNothing) {
  perf_data::AddRecord(perf_event::kRecordRead, "7777", &behind_);
  perf_data::AddRecord(perf_event::kRecordRead, "", &behind_);
  EXPECT_EQ(Text(), "# PID  TID\n");
}

class GroupCountersTest : public ThreadCountersTest {
 protected:
  GroupCountersTest() : ThreadCountersTest(kFormatGroup | kFormatId) {}
};

TEST_F(GroupCountersTest, EachMemberIsCountedOnceThoughAllAreReadWithEach) {
  Read(7, 7, 1, {2, 1000, 1, 12, 3});
  Read(7, 7, 3, {2, 1000, 1, 12, 3});
  EXPECT_EQ(Text(),
            "# PID  TID  cycles  page-faults\n"
            "    7    7    1000           12\n");
}

TEST_F(GroupCountersTest, ValuesOfCountersThatTheRecordIsNotOfAreNone) {
  Read(7, 7, 3, {3, 1000, 1, 12, 77, 13, 88});
  // A group that claims to be larger than the record.
  const uint64_t words[] = {7, 1'000'000, 1000, 1, 7, 5, 3};
  perf_data::AddRecord(perf_event::kRecordRead, TextOf(std::as_bytes(std::span(words))), &behind_);
  EXPECT_EQ(Text(), "# PID  TID\n");
}

}  // namespace
}  // namespace profiler::report
