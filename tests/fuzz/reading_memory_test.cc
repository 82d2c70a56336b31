// Measures the memory that reading a recording takes. Records of a mapped file take 16 bytes each
// for sorting. All other records take the memory of two rounds. A number in the file
// that claims a large size must not cost memory.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_data/write/writer.h"
#include "src/format/perf_event/testing/record_builder.h"
#include "tests/fuzz/heap_meter.h"

namespace profiler::fuzz {
namespace {

using perf_data::Recording;
using perf_data::TimedRecord;

constexpr int kSamplesInRound = 10'000;
constexpr size_t kBytesInRound = kSamplesInRound * 200;
// Bytes that do not depend on the file's size: windows, partly filled chunks, tables of events.
constexpr size_t kFixed = 4 << 20;

// Writes records of two rings. Each round has the records of ring 0, then the records of ring 1. So
// half of a round's records wait in memory until the next round.
void WriteRounds(const std::string& path, int rounds, int compression_level,
                 bool with_markers = true) {
  const perf_event::Attr attr = perf_data::UsualAttr();
  perf_data::WriterOptions options;
  options.compression_level = compression_level;
  auto writer = perf_data::Writer::Create(path, {{attr, "cpu-clock", {1}}}, options);
  ASSERT_TRUE(writer.ok()) << writer.status();
  perf_event::RecordBuilder records(attr);
  const std::vector<uint64_t> chain(16, 0x1234);
  for (int round = 0; round < rounds; ++round) {
    for (int ring = 0; ring < 2; ++ring) {
      for (int i = ring; i < kSamplesInRound; i += 2) {
        records.At(1 + round * uint64_t{kSamplesInRound} + i).Id(1).Sample(1, chain);
      }
    }
    ASSERT_TRUE(perf_data::AppendAll(**writer, records).ok());
    if (with_markers) {
      ASSERT_TRUE((*writer)->FinishRound().ok());
    }
  }
  ASSERT_TRUE((*writer)->Finish({}).ok());
}

// Returns the peak memory of reading in time order.
size_t PeakOfReading(const std::string& path, int rounds) {
  const size_t before = ResetPeakHeap();
  auto recording = Recording::Open(path);
  EXPECT_TRUE(recording.ok()) << recording.status();
  int samples = 0;
  const absl::Status status =
      (*recording)->ForEach(Recording::Order::kTime, [&samples](const TimedRecord& record) {
        samples += record.time != 0;
      });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(samples, rounds * kSamplesInRound);
  return PeakHeap() - before;
}

TEST(ReadingMemoryTest, OfACompressedRecordingIsTwoRoundsHoweverManyThereAre) {
  const std::string path = perf_data::TestPath("compressed.data");
  for (int rounds : {4, 40}) {
    WriteRounds(path, rounds, /*compression_level=*/1);
    EXPECT_LE(PeakOfReading(path, rounds), 2 * kBytesInRound + kFixed) << rounds << " rounds";
  }
}

TEST(ReadingMemoryTest, OfACompressedRecordingWithoutRoundsHasALimit) {
  const std::string path = perf_data::TestPath("without_rounds.data");
  constexpr size_t kLimit = 256 << 20;
  constexpr int kRounds = 200;
  static_assert(kRounds * kBytesInRound > kLimit);
  WriteRounds(path, kRounds, /*compression_level=*/1, /*with_markers=*/false);
  EXPECT_LE(PeakOfReading(path, kRounds), kLimit + kLimit / 4);
  EXPECT_GE(PeakHeap(), kLimit / 2);  // all records were waiting in memory
}

TEST(ReadingMemoryTest, OfAMappedRecordingIsTheOrderOfTwoRounds) {
  const std::string path = perf_data::TestPath("mapped.data");
  constexpr size_t kToSort = 2 * kSamplesInRound * 16;
  for (int rounds : {4, 40}) {
    WriteRounds(path, rounds, /*compression_level=*/0);
    // While a vector grows, its new storage for twice the entries and its old storage both exist.
    EXPECT_LE(PeakOfReading(path, rounds), 4 * kToSort) << rounds << " rounds";
  }
}

// Sets every number in turn, and each pair of neighbours, to the largest value.
TEST(ReadingMemoryTest, DoesNotFollowWhatNumbersClaim) {
  const std::string path = perf_data::TestPath("claims.data");
  perf_data::WriteUsualRecording(path);
  const std::vector<std::byte> good = perf_data::ReadFile(path);
  for (uint64_t claim : {UINT64_MAX, uint64_t{1} << 40}) {
    for (size_t at = 0; at + 8 <= good.size(); at += 8) {
      std::vector<std::byte> bad = good;
      std::memcpy(bad.data() + at, &claim, sizeof(claim));
      perf_data::WriteFile(path, bad);
      const size_t before = ResetPeakHeap();
      auto recording = Recording::Open(path);
      if (!recording.ok()) continue;
      (void)(*recording)->ForEach(Recording::Order::kTime, [](const TimedRecord&) {});
      ASSERT_LE(PeakHeap() - before, kFixed) << claim << " at " << at;
    }
  }
}

}  // namespace
}  // namespace profiler::fuzz
