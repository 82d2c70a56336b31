#include "ringbuf/ring_view.h"

#include <linux/perf_event.h>

#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "ringbuf/raw_record.h"
#include "ringbuf/record_cursor.h"
#include "ringbuf/testing/fake_ring.h"

namespace profiler::ringbuf {
namespace {

constexpr size_t kSize = 4096;

std::vector<std::byte> Concatenate(const RingBytes& bytes) {
  std::vector<std::byte> all(bytes.spans[0].begin(), bytes.spans[0].end());
  all.insert(all.end(), bytes.spans[1].begin(), bytes.spans[1].end());
  return all;
}

// Returns "type/size" of each record, then the status unless it is OK.
std::string Walk(const RingBytes& bytes) {
  auto bounce = std::make_unique<BounceBuffer>();
  RecordCursor cursor(bytes, *bounce);
  std::string text;
  while (auto record = cursor.Next()) {
    text += std::to_string(record->type()) + "/" + std::to_string(record->bytes().size()) + " ";
  }
  if (!cursor.status().ok()) {
    EXPECT_EQ(cursor.status().code(), absl::StatusCode::kDataLoss);
    text += std::string(cursor.status().message());
  }
  return text;
}

std::vector<std::byte> HeaderWithSize(uint16_t size) {
  std::vector<std::byte> record = MakeRecord(9, size_t{0});
  record[6] = std::byte(size & 0xff);
  record[7] = std::byte(size >> 8);
  return record;
}

TEST(RingView, EmptyRingHasNoBytes) {
  FakeRing ring(kSize);
  EXPECT_EQ(ring.view().Peek().size(), 0u);
  EXPECT_EQ(RingView().Peek().size(), 0u);
  EXPECT_EQ(ring.view().capacity(), kSize);
}

TEST(RingView, PeekDoesNotConsumeAndConsumeFreesRoom) {
  FakeRing ring(kSize);
  ring.Publish(MakeRecord(1, size_t{16}));
  EXPECT_EQ(ring.view().Peek().size(), 24u);
  EXPECT_EQ(ring.view().Peek().size(), 24u);
  EXPECT_EQ(ring.tail(), 0u);
  ring.view().Consume(24);
  EXPECT_EQ(ring.tail(), 24u);
  EXPECT_EQ(ring.view().Peek().size(), 0u);
}

TEST(RingView, ConsumesInParts) {
  FakeRing ring(kSize);
  ring.Publish(MakeRecord(1, size_t{16}));
  ring.Publish(MakeRecord(2, size_t{32}));
  ring.view().Peek();
  ring.view().Consume(24);
  EXPECT_EQ(Walk(ring.view().Peek()), "2/40 ");
  ring.view().Consume(40);
  EXPECT_EQ(ring.view().Peek().size(), 0u);
}

TEST(RingView, BytesAroundTheEndComeInOrder) {
  const std::vector<std::byte> record = MakeRecord(9, size_t{56}, 7);
  FakeRing ring(kSize, kSize - 24);
  ring.Publish(record);
  const RingBytes bytes = ring.view().Peek();
  EXPECT_EQ(bytes.spans[0].size(), 24u);
  EXPECT_EQ(bytes.spans[1].size(), 40u);
  EXPECT_EQ(Concatenate(bytes), record);
}

TEST(RingView, PositionsMayPassTheLargestNumber) {
  FakeRing ring(kSize, uint64_t{0} - 16);
  ring.Publish(MakeRecord(3, size_t{40}));
  EXPECT_EQ(Walk(ring.view().Peek()), "3/48 ");
  ring.view().Consume(48);
  EXPECT_EQ(ring.tail(), 32u);
}

TEST(RingView, HeadTooFarGivesTheNewestRingful) {
  FakeRing ring(kSize);
  ring.set_head(3 * kSize + 8);
  const RingBytes bytes = ring.view().Peek();
  EXPECT_EQ(bytes.size(), kSize);
  EXPECT_EQ(bytes.spans[0].size(), kSize - 8);
  ring.view().Consume(bytes.size());
  EXPECT_EQ(ring.tail(), 3 * kSize + 8);
  EXPECT_EQ(ring.view().Peek().size(), 0u);
}

TEST(RingView, HeadThatFallsBackIsBounded) {
  FakeRing ring(kSize, 1000);
  ring.set_head(100);
  EXPECT_EQ(ring.view().Peek().size(), kSize);
}

TEST(RecordCursor, EmptyBytesHaveNoRecord) { EXPECT_EQ(Walk({}), ""); }

TEST(RecordCursor, RecordsAcrossTheEndComeWholeAtEveryOffset) {
  // Records of 64, 24 and 8 bytes. The ring begins at each byte in turn, so that its end falls
  // before, inside and after each header and body.
  const std::vector<std::vector<std::byte>> records = {
      MakeRecord(9, size_t{56}, 1), MakeRecord(3, size_t{16}, 2), MakeRecord(2, size_t{0})};
  auto bounce = std::make_unique<BounceBuffer>();
  for (uint64_t start = kSize - 200; start <= kSize + 8; ++start) {
    FakeRing ring(kSize, start);
    for (const auto& record : records) ASSERT_TRUE(ring.Publish(record));
    const RingBytes bytes = ring.view().Peek();
    RecordCursor cursor(bytes, *bounce);
    size_t offset = 0;
    for (const auto& record : records) {
      const auto read = cursor.Next();
      ASSERT_TRUE(read.has_value()) << "start " << start;
      ASSERT_TRUE(
          std::equal(record.begin(), record.end(), read->bytes().begin(), read->bytes().end()))
          << "start " << start << " offset " << offset;
      offset += record.size();
      ASSERT_EQ(cursor.offset(), offset);
    }
    ASSERT_FALSE(cursor.Next().has_value());
    ASSERT_TRUE(cursor.status().ok());
  }
}

TEST(RecordCursor, OnlyTheRecordAcrossTheEndIsCopied) {
  FakeRing ring(kSize, kSize - 40);
  ring.Publish(MakeRecord(1, size_t{16}));
  ring.Publish(MakeRecord(2, size_t{24}));
  ring.Publish(MakeRecord(3, size_t{16}));
  const RingBytes bytes = ring.view().Peek();
  auto bounce = std::make_unique<BounceBuffer>();
  RecordCursor cursor(bytes, *bounce);
  EXPECT_EQ(cursor.Next()->bytes().data(), bytes.spans[0].data());
  EXPECT_EQ(cursor.Next()->bytes().data(), bounce->bytes.data());
  EXPECT_EQ(cursor.Next()->bytes().data(), bytes.spans[1].data() + 16);
}

TEST(RecordCursor, LargestRecordFitsTheBounceBuffer) {
  std::vector<std::byte> record = MakeRecord(9, size_t{65520});
  FakeRing ring(1 << 17, (1 << 17) - 8);
  ring.Publish(record);
  ring.Publish(MakeRecord(1, size_t{0}));
  EXPECT_EQ(Walk(ring.view().Peek()), "9/65528 1/8 ");
}

TEST(RecordCursor, OddSizeOf65535IsTakenToo) {
  std::vector<std::byte> record = HeaderWithSize(0xffff);
  record.resize(0xffff);
  FakeRing ring(1 << 17, (1 << 17) - 5);
  ring.WriteRaw(record);
  EXPECT_EQ(Walk(ring.view().Peek()), "9/65535 ");
}

TEST(RecordCursor, ImpossibleSizesStopTheWalk) {
  for (uint64_t start : {uint64_t{0}, uint64_t{kSize - 8}, uint64_t{kSize - 12}}) {
    for (uint16_t size : {0, 1, 7, 16, 0xffff}) {
      FakeRing ring(kSize, start);
      ring.Publish(MakeRecord(1, size_t{0}));
      ring.WriteRaw(HeaderWithSize(size));
      EXPECT_EQ(
          Walk(ring.view().Peek()),
          "1/8 ring record at byte 8 of 16: type 9 has the impossible size " + std::to_string(size))
          << "start " << start;
    }
  }
}

TEST(RecordCursor, BytesTooFewForAHeaderStopTheWalk) {
  for (uint64_t start : {uint64_t{0}, uint64_t{kSize - 8}, uint64_t{kSize - 10}}) {
    FakeRing ring(kSize, start);
    ring.Publish(MakeRecord(1, size_t{0}));
    ring.WriteRaw(std::vector<std::byte>(7));
    EXPECT_EQ(Walk(ring.view().Peek()), "1/8 ring record at byte 8 of 15: cut within its header");
  }
}

TEST(RecordCursor, StaysStoppedAfterBadBytes) {
  FakeRing ring(kSize);
  ring.WriteRaw(HeaderWithSize(4));
  auto bounce = std::make_unique<BounceBuffer>();
  RecordCursor cursor(ring.view().Peek(), *bounce);
  EXPECT_FALSE(cursor.Next().has_value());
  ring.WriteRaw(MakeRecord(1, size_t{8}));
  EXPECT_FALSE(cursor.Next().has_value());
  EXPECT_EQ(cursor.offset(), 0u);
}

TEST(FakeRing, CountsWhatDoesNotFitAndTellsOfItBeforeTheNext) {
  FakeRing ring(kSize, 0, 42);
  const std::vector<std::byte> record = MakeRecord(9, size_t{1016});
  size_t written = 0;
  while (ring.Publish(record)) ++written;
  EXPECT_EQ(written, 3u);  // a fourth would leave no byte to spare
  EXPECT_FALSE(ring.Publish(record));
  EXPECT_EQ(ring.lost(), 2u);
  ring.WriteRaw(MakeRecord(9, size_t{992}));

  ring.view().Peek();
  ring.view().Consume(1024);
  EXPECT_FALSE(ring.Publish(record));  // the record fits, but not with the LOST record before it
  EXPECT_EQ(ring.lost(), 3u);
  ring.view().Peek();
  ring.view().Consume(3048);
  EXPECT_TRUE(ring.Publish(record));

  const RingBytes bytes = ring.view().Peek();
  EXPECT_EQ(Walk(bytes), "2/24 9/1024 ");
  auto bounce = std::make_unique<BounceBuffer>();
  RecordCursor cursor(bytes, *bounce);
  uint64_t id_and_lost[2];
  std::memcpy(id_and_lost, cursor.Next()->body().data(), sizeof(id_and_lost));
  EXPECT_EQ(id_and_lost[0], 42u);
  EXPECT_EQ(id_and_lost[1], 3u);
  EXPECT_EQ(ring.lost(), 0u);
}

TEST(RingView, OneThreadWritesWhileAnotherReads) {
  constexpr uint64_t kRecords = 20000;
  FakeRing ring(kSize);
  std::thread producer([&ring] {
    for (uint64_t i = 0; i < kRecords;) {
      // Bodies of 8 to 256 bytes; each begins with the record's number. A full ring is retried.
      std::vector<std::byte> record = MakeRecord(9, size_t{8} + i % 32 * 8);
      std::memcpy(record.data() + 8, &i, sizeof(i));
      if (ring.lost() == 0 && ring.head() - ring.tail() + record.size() >= kSize) {
        std::this_thread::yield();
        continue;
      }
      ring.Publish(record);
      ++i;
    }
  });
  auto bounce = std::make_unique<BounceBuffer>();
  uint64_t seen = 0;
  uint64_t wrong = 0;
  while (seen < kRecords) {
    const RingBytes bytes = ring.view().Peek();
    if (bytes.size() == 0) std::this_thread::yield();
    RecordCursor cursor(bytes, *bounce);
    while (auto record = cursor.Next()) {
      uint64_t number = 0;
      std::memcpy(&number, record->body().data(), sizeof(number));
      if (number != seen || record->body().size() != 8 + seen % 32 * 8) ++wrong;
      ++seen;
    }
    ring.view().Consume(bytes.size());
  }
  producer.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace profiler::ringbuf
