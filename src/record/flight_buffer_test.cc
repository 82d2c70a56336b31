#include "src/record/flight_buffer.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/testing/record_builder.h"

namespace profiler::record {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kBytes = 1 << 20;

class FlightBufferTest : public testing::Test {
 protected:
  FlightBufferTest()
      : records_(perf_event::SampleAttr(perf_event::kSampleIp | perf_event::kSampleTid |
                                        perf_event::kSampleTime)) {}

  void Make(FlightLimits limits) {
    auto made = FlightBuffer::Create(records_.layout(), limits,
                                     [this](uint32_t pid) { return !gone_.contains(pid); });
    ASSERT_TRUE(made.ok()) << made.status();
    buffer_ = *std::move(made);
  }

  // Appends the records built since the last call as a pass at this time of a fake clock.
  void Pass(milliseconds at) {
    const std::span<const std::byte> bytes = records_.bytes();
    // Rings hand out two pieces, and cut a record in two at their end.
    const std::span<const std::byte> pieces[] = {bytes.first(bytes.size() / 16 * 8),
                                                 bytes.subspan(bytes.size() / 16 * 8)};
    buffer_->Append(pieces, FlightBuffer::Time(at));
    records_.Clear();
  }
  void Samples(milliseconds at, size_t count) {
    for (size_t i = 0; i < count; ++i) records_.By(7, 7).At(at.count()).Sample(0x1000 + i);
    Pass(at);
  }

  static std::string Line(perf_event::RawRecord record, const perf_event::RecordLayout& layout) {
    perf_event::Comm comm;
    perf_event::Mmap2 mapped;
    if (record.type() == perf_event::kRecordComm && Decode(record, layout, &comm)) {
      return absl::StrCat("comm ", comm.pid, " ", View(comm.comm));
    }
    if (record.type() == perf_event::kRecordMmap2 && Decode(record, layout, &mapped)) {
      return absl::StrCat("map ", mapped.pid, " ", View(mapped.filename));
    }
    return "";
  }
  std::string WhatRan() {
    std::vector<std::byte> bytes;
    buffer_->WriteWhatRan(&bytes);
    ringbuf::RingBytes ring;
    ring.spans[0] = bytes;
    ringbuf::BounceBuffer bounce;
    ringbuf::RecordCursor cursor(ring, bounce);
    std::vector<std::string> lines;
    while (const auto record = cursor.Next()) {
      const std::string line = Line(*record, records_.layout());
      if (!line.empty()) lines.push_back(line);
    }
    return absl::StrJoin(lines, ", ");
  }

  // Returns the times of the kept samples.
  std::vector<uint64_t> Times() {
    std::vector<uint64_t> times;
    ringbuf::BounceBuffer bounce;
    for (const FlightBuffer::Slice& slice : buffer_->slices()) {
      ringbuf::RecordCursor cursor(buffer_->BytesOf(slice), bounce);
      while (const auto record = cursor.Next()) {
        if (record->type() == perf_event::kRecordSample) {
          times.push_back(TimeOf(*record, records_.layout()));
        }
      }
      EXPECT_TRUE(cursor.status().ok()) << cursor.status();
    }
    return times;
  }

  perf_event::RecordBuilder records_;
  std::set<uint32_t> gone_;
  std::unique_ptr<FlightBuffer> buffer_;
};

TEST_F(FlightBufferTest, KeepsTheRecordsOfItsTimeAndDropsOlderOnes) {
  Make({.time = seconds(32), .bytes = kBytes});
  for (int second = 0; second < 100; ++second) {
    Samples(seconds(second), 1);
    buffer_->DropBefore(FlightBuffer::Time(seconds(second - 32)));
  }
  const std::vector<uint64_t> times = Times();
  ASSERT_FALSE(times.empty());
  // A slice of a second may be kept a little longer than it has to.
  EXPECT_LE(times.front(), 67'000u);
  EXPECT_GE(times.front(), 65'000u);
  EXPECT_EQ(times.back(), 99'000u);
  EXPECT_EQ(buffer_->DroppedSince(FlightBuffer::Time(seconds(67))).samples, 0u);
}

TEST_F(FlightBufferTest, AtAnyRateTheOldestRecordsLeaveAndAreCounted) {
  Make({.time = seconds(32), .bytes = kBytes});
  constexpr size_t kPasses = 64, kPerPass = 2000;
  for (size_t i = 0; i < kPasses; ++i) Samples(milliseconds(100 * i), kPerPass);
  const std::vector<uint64_t> times = Times();
  uint64_t bytes = 0, samples = 0;
  for (const FlightBuffer::Slice& slice : buffer_->slices()) {
    bytes += slice.end - slice.begin;
    samples += slice.samples;
  }
  EXPECT_LE(bytes, kBytes);
  EXPECT_GE(bytes, kBytes / 2);
  EXPECT_EQ(samples, times.size());
  EXPECT_EQ(times.back(), 6300u);
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  const FlightBuffer::Dropped dropped = buffer_->DroppedSince(FlightBuffer::Time());
  EXPECT_EQ(dropped.samples + samples, kPasses * kPerPass);
  ASSERT_TRUE(dropped.until.has_value());
  EXPECT_LE(*dropped.until, buffer_->slices().front().last);
}

TEST_F(FlightBufferTest, APassThatIsLargerThanTheMemoryLeavesItsLatestRecords) {
  Make({.time = seconds(32), .bytes = kBytes});
  Samples(seconds(1), kBytes / 16);
  EXPECT_FALSE(Times().empty());
  Samples(seconds(2), 1);
  EXPECT_EQ(Times().back(), 2000u);
}

TEST_F(FlightBufferTest, WhatRanBeforeTheKeptRecordsIsKnown) {
  Make({.time = seconds(32), .bytes = kBytes});
  records_.By(7, 7).At(0).Comm("server", /*exec=*/true).Mmap2(0x1000, 0x1000, 0, "/bin/server");
  buffer_->Observe(records_.bytes());
  records_.Clear();
  // A process that ends before the kept time is forgotten. One that ends within it is not.
  records_.By(8, 8).At(1).Comm("early", /*exec=*/true).By(8, 8).Exit();
  records_.By(9, 9).At(2).Comm("late", /*exec=*/true).Mmap2(0x5000, 0x1000, 0, "/bin/late");
  Pass(seconds(1));
  Samples(seconds(5), 1);
  records_.By(9, 9).At(40).Exit();
  Pass(seconds(40));
  buffer_->DropBefore(FlightBuffer::Time(seconds(30)));
  EXPECT_EQ(WhatRan(), "comm 7 server, map 7 /bin/server, comm 9 late, map 9 /bin/late");
  EXPECT_EQ(Times(), std::vector<uint64_t>());
}

TEST_F(FlightBufferTest, WritingWhatRanChangesNothing) {
  Make({.time = seconds(32), .bytes = kBytes});
  records_.By(7, 7).At(20).Comm("second");
  Pass(seconds(1));
  buffer_->CompleteSlice();
  buffer_->DropBefore(FlightBuffer::Time(seconds(2)));
  EXPECT_EQ(WhatRan(), "comm 7 second");
  EXPECT_EQ(WhatRan(), "comm 7 second");
  // The next pass has a record of another CPU that is earlier.
  records_.By(7, 7).At(10).Comm("first");
  Pass(seconds(3));
  buffer_->CompleteSlice();
  buffer_->DropBefore(FlightBuffer::Time(seconds(4)));
  EXPECT_EQ(WhatRan(), "comm 7 second");
}

TEST_F(FlightBufferTest, IsOfBoundedSizeWithoutTheEndsOfProcesses) {
  Make({.time = seconds(32), .bytes = kBytes});
  // The ends of these processes were lost.
  constexpr uint32_t kProcesses = 20'000;
  for (uint32_t pid = 100; pid < 100 + kProcesses; ++pid) {
    gone_.insert(pid);
    records_.By(pid, pid).At(pid).Comm("lost", /*exec=*/true).Mmap2(pid * 4096, 4096, 0, "/bin/l");
    if (pid % 100 == 0) Pass(milliseconds(pid));
  }
  Samples(seconds(1000), 1);
  buffer_->DropBefore(FlightBuffer::Time(seconds(900)));
  std::vector<std::byte> bytes;
  buffer_->WriteWhatRan(&bytes);
  // A process stays while the buffer might keep its records.
  EXPECT_LT(bytes.size(), 2 * kBytes);
  EXPECT_GT(buffer_->forgotten(), kProcesses / 2);
}

TEST_F(FlightBufferTest, IsOfBoundedSizeWhereAProcessMapsEverNewFiles) {
  Make({.time = seconds(32), .bytes = kBytes});
  records_.By(7, 7).At(1).Comm("server", /*exec=*/true).Mmap2(0x1000, 0x1000, 0, "/bin/server");
  for (uint64_t i = 1; i < 40'000; ++i) {
    records_.At(i).Mmap2(i << 20, 4096, 0, absl::StrCat("/tmp/plugin", i, ".so"));
    if (i % 100 == 0) Pass(milliseconds(i));
  }
  Samples(seconds(1000), 1);
  buffer_->DropBefore(FlightBuffer::Time(seconds(900)));
  std::vector<std::byte> bytes;
  buffer_->WriteWhatRan(&bytes);
  EXPECT_LT(bytes.size(), kBytes);
  EXPECT_GT(buffer_->forgotten(), 20'000u);
  EXPECT_TRUE(WhatRan().starts_with("comm 7 server, map 7 /bin/server, map 7 /tmp/plugin1.so"));
}

TEST_F(FlightBufferTest, SaysWhichSliceIsAboutToBeDropped) {
  Make({.time = seconds(32), .bytes = kBytes});
  std::vector<uint64_t> dropped;
  buffer_->OnDrop([&](const FlightBuffer::Slice& slice) { dropped.push_back(slice.number); });
  Samples(seconds(1), 1);
  Samples(seconds(3), 1);
  buffer_->CompleteSlice();
  Samples(seconds(4), 1);
  buffer_->DropBefore(FlightBuffer::Time(seconds(4)));
  EXPECT_EQ(dropped, (std::vector<uint64_t>{0}));
  EXPECT_EQ(Times(), std::vector<uint64_t>{4000});
}

}  // namespace
}  // namespace profiler::record
