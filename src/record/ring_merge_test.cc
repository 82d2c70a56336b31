#include "src/record/ring_merge.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ringbuf/testing/fake_ring.h"
#include "src/format/perf_event/testing/record_builder.h"

namespace profiler::record {
namespace {

class RingMergeTest : public testing::Test {
 protected:
  static constexpr size_t kRing = 4096;

  perf_event::RecordBuilder Builder() {
    return perf_event::RecordBuilder(perf_event::SampleAttr(
        perf_event::kSampleIp | perf_event::kSampleTid | perf_event::kSampleTime));
  }

  void Publish(size_t ring, std::initializer_list<uint64_t> times) {
    for (const uint64_t time : times) {
      auto records = Builder();
      records.At(time).By(1, 1).Sample(time);
      ASSERT_TRUE(rings_[ring].Publish(records.bytes()));
    }
  }

  // Runs one pass and consumes the records that it hands out. Returns the times of these records,
  // in the order of the calls.
  std::string Run(uint64_t until) {
    std::vector<ringbuf::RingPass> passes;
    for (auto& ring : rings_) {
      const ringbuf::RingBytes bytes = ring.view().Peek();
      passes.push_back({0, bytes, kRing, 0, bytes.size()});
    }
    std::string times;
    const absl::Status status = merge_.Run(passes, until, [&](perf_event::RawRecord record, int) {
      absl::StrAppend(&times, TimeOf(record, layout_), " ");
    });
    EXPECT_TRUE(status.ok()) << status;
    for (size_t i = 0; i < rings_.size(); ++i) rings_[i].view().Consume(passes[i].consume);
    return times;
  }

  const perf_event::RecordLayout layout_ = Builder().layout();
  std::array<ringbuf::FakeRing, 2> rings_{ringbuf::FakeRing(kRing), ringbuf::FakeRing(kRing)};
  RingMerge merge_{layout_};
};

TEST_F(RingMergeTest, HandsOutTheRecordsOfAllRingsByTime) {
  Publish(0, {1, 4, 6});
  Publish(1, {2, 3, 5, 7});
  EXPECT_EQ(Run(UINT64_MAX), "1 2 3 4 5 6 7 ");
  EXPECT_EQ(Run(UINT64_MAX), "");
}

TEST_F(RingMergeTest, LaterRecordsStayInTheirRingUntilTheNextPass) {
  Publish(0, {1, 4, 9});
  Publish(1, {2, 8});
  EXPECT_EQ(Run(7), "1 2 4 ");
  Publish(1, {10});
  EXPECT_EQ(Run(9), "8 9 ");
  EXPECT_EQ(Run(10), "10 ");
}

TEST_F(RingMergeTest, KeepsTheOrderOfARing) {
  Publish(0, {5, 3, 8});
  Publish(1, {4, 6});
  EXPECT_EQ(Run(7), "4 5 3 6 ");
  EXPECT_EQ(Run(8), "8 ");
}

TEST_F(RingMergeTest, ARecordWithoutTimeIsNotWaitedFor) {
  Publish(0, {0, 3});
  Publish(1, {2});
  EXPECT_EQ(Run(1), "0 ");
}

TEST_F(RingMergeTest, DoesNotWaitWhereARingWouldStayMoreThanHalfFull) {
  for (int i = 0; i < 70; ++i) Publish(0, {20});  // records of 32 bytes
  Publish(1, {1, 21});
  EXPECT_EQ(Run(10).substr(0, 5), "1 20 ");
  EXPECT_EQ(merge_.hurried(), 1u);
  EXPECT_EQ(Run(UINT64_MAX), "");
}

TEST_F(RingMergeTest, RecordsAcrossTheEndOfTheirRingsAreWhole) {
  for (uint64_t round = 0; round < 20; ++round) {
    std::string expected;
    for (uint64_t i = 0; i < 30; ++i) {
      // The record after the sample has another size.
      auto records = Builder();
      records.At(1000 * round + 2 * i).By(1, 1).Lost(1);
      ASSERT_TRUE(rings_[0].Publish(records.bytes()));
      Publish(1, {1000 * round + 2 * i + 1});
      absl::StrAppend(&expected, 1000 * round + 2 * i, " ", 1000 * round + 2 * i + 1, " ");
    }
    EXPECT_EQ(Run(UINT64_MAX), expected);
  }
}

TEST_F(RingMergeTest, RefusesBytesThatAreNoRecords) {
  std::array<std::byte, 16> zeroes{};
  rings_[0].WriteRaw(zeroes);
  rings_[0].set_head(16);
  const ringbuf::RingBytes bytes = rings_[0].view().Peek();
  std::array<ringbuf::RingPass, 1> passes = {{{0, bytes, kRing, 0, bytes.size()}}};
  EXPECT_TRUE(absl::IsDataLoss(merge_.Run(passes, UINT64_MAX, [](perf_event::RawRecord, int) {})));
}

}  // namespace
}  // namespace profiler::record
