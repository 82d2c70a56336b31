#include "src/format/perf_data/read/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zstd.h>

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/format/perf_data/format/file_header.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_event/attr_codec.h"

namespace profiler::perf_data {
namespace {

using perf_event::RecordBuilder;
using testing::HasSubstr;
using Order = Recording::Order;

constexpr char kUsualInTime[] =
    "COMM, MMAP2, 110 SAMPLE, 120 SAMPLE, 130 SAMPLE, 140 SAMPLE, 150 SAMPLE, 160 SAMPLE, "
    "170 SAMPLE, 180 SAMPLE, 190 SAMPLE";

std::string UsualPath() {
  const std::string path = TestPath("usual.data");
  WriteUsualRecording(path);
  return path;
}

// Returns records of the usual recording without round markers, in an order that needs sorting.
RecordBuilder SomeRecords() {
  RecordBuilder records(UsualAttr());
  records.By(7, 7).Comm("cat").Id(1);
  records.At(30).Sample(0x30).At(10).Sample(0x10).At(20).Id(2).Sample(0x20);
  return records;
}

TEST(Recording, VisitsRecordsInTheOrderOfTheFile) {
  EXPECT_EQ(ToldFile(UsualPath(), Order::kFile),
            "COMM, MMAP2, 110 SAMPLE, 130 SAMPLE, 120 SAMPLE, 140 SAMPLE, ROUND, 160 SAMPLE, "
            "150 SAMPLE, 170 SAMPLE, ROUND, 190 SAMPLE, 180 SAMPLE, ROUND");
}

TEST(Recording, VisitsRecordsInTheOrderOfTime) {
  EXPECT_EQ(ToldFile(UsualPath(), Order::kTime), kUsualInTime);
}

TEST(Recording, CanBeReadAgain) {
  auto recording = Recording::Open(UsualPath());
  ASSERT_TRUE(recording.ok());
  EXPECT_EQ(Told(**recording, Order::kTime), kUsualInTime);
  EXPECT_EQ(Told(**recording, Order::kTime), kUsualInTime);
}

TEST(Recording, APassEndsWhenItsVisitorWantsNoMore) {
  auto recording = Recording::Open(UsualPath());
  ASSERT_TRUE(recording.ok());
  for (const Order order : {Order::kFile, Order::kTime, Order::kStored}) {
    int visited = 0;
    EXPECT_TRUE(
        (*recording)->ForEach(order, [&](const TimedRecord&) { return ++visited < 4; }).ok());
    EXPECT_EQ(visited, 4);
  }
  EXPECT_EQ(Told(**recording, Order::kTime), kUsualInTime);
}

TEST(Recording, PassesOverSamplesOutsideOfTheWindow) {
  auto recording = Recording::Open(UsualPath());
  ASSERT_TRUE(recording.ok());
  EXPECT_EQ(Told(**recording, Order::kTime, {.first = 130, .last = 140}),
            "COMM, MMAP2, 110 SAMPLE, 120 SAMPLE, 130 SAMPLE, 140 SAMPLE, 150 SAMPLE, 170 SAMPLE, "
            "180 SAMPLE, 190 SAMPLE")
      << "the first and the last of each round are visited; 160 is not";
}

TEST(Recording, PassesOverNothingInTheOrderOfTheFile) {
  auto recording = Recording::Open(UsualPath());
  ASSERT_TRUE(recording.ok());
  EXPECT_EQ(Told(**recording, Order::kFile, {.first = 130, .last = 140}),
            Told(**recording, Order::kFile));
}

TEST(Recording, HasItsEventsAndFeatures) {
  auto recording = Recording::Open(UsualPath());
  ASSERT_TRUE(recording.ok());
  ASSERT_EQ((*recording)->events().size(), 1u);
  EXPECT_EQ((*recording)->events()[0].name, "cpu-clock");
  EXPECT_EQ((*recording)->events()[0].ids, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ((*recording)->features(), UsualFeatures());
}

TEST(Recording, RecordsHaveTheirPlaceInTheFile) {
  const std::string path = UsualPath();
  const std::vector<std::byte> file = ReadFile(path);
  auto recording = Recording::Open(path);
  ASSERT_TRUE((*recording)
                  ->ForEach(Order::kTime,
                            [&](const TimedRecord& record) {
                              const auto bytes = record.record.bytes();
                              EXPECT_EQ(std::memcmp(file.data() + record.file_offset, bytes.data(),
                                                    bytes.size()),
                                        0);
                            })
                  .ok());
}

// --- several events ----------------------------------------------------------------------------

TEST(Recording, TellsEventsOfDifferentSampleTypesApartByTheirIdentifier) {
  const std::string path = TestPath("events.data");
  const perf_event::Attr first = UsualAttr();
  perf_event::Attr second = UsualAttr();
  // In these samples the time is at another offset than in those of `first`.
  second.sample_type = perf_event::kSampleIdentifier | perf_event::kSampleTime;
  auto writer = Writer::Create(path, {{first, "a", {10}}, {second, "b", {20, 21}}}, 0);
  RecordBuilder a(first), b(second);
  ASSERT_TRUE(AppendAll(**writer, a.At(5).Id(10).Sample(1)).ok());
  ASSERT_TRUE(AppendAll(**writer, b.At(4).Id(21).Sample(1)).ok());
  ASSERT_TRUE(AppendAll(**writer, b.At(3).Id(20).Lost(2)).ok());
  ASSERT_TRUE((*writer)->Finish({}).ok());
  EXPECT_EQ(ToldFile(path, Order::kTime), "3 LOST/1, 4 SAMPLE/1, 5 SAMPLE");
}

TEST(Recording, CountsRecordsOfAnUnknownIdForTheFirstEvent) {
  const std::string path = TestPath("unknown_id.data");
  const perf_event::Attr attr = UsualAttr();
  auto writer = Writer::Create(path, {{attr, "a", {10}}, {attr, "b", {20}}}, 0);
  RecordBuilder records(attr);
  records.At(1).Id(99).Sample(1).At(2).Id(20).Sample(1).At(0).Id(0).Comm("synthesized");
  ASSERT_TRUE(AppendAll(**writer, records).ok());
  ASSERT_TRUE((*writer)->Finish({}).ok());
  EXPECT_EQ(ToldFile(path, Order::kTime),
            "COMM, 1 SAMPLE, 2 SAMPLE/1 # F: 1 records have an id that no event has; they count "
            "for a");
}

TEST(Recording, CountsUnknownIdsOfSamplesThatItPassesOver) {
  const std::string path = TestPath("unknown_id_of_no_interest.data");
  const perf_event::Attr attr = UsualAttr();
  auto writer = Writer::Create(path, {{attr, "a", {10}}, {attr, "b", {20}}}, 0);
  RecordBuilder records(attr);
  for (const uint64_t time : {1, 2, 3, 4, 5}) records.At(time).Id(99).Sample(1);
  ASSERT_TRUE(AppendAll(**writer, records.At(9).Id(20).Sample(1)).ok());
  ASSERT_TRUE((*writer)->Finish({}).ok());
  auto recording = Recording::Open(path);
  ASSERT_TRUE(recording.ok());
  EXPECT_EQ(Told(**recording, Order::kTime, {.first = 9}), "1 SAMPLE, 5 SAMPLE, 9 SAMPLE/1");
  ASSERT_EQ((*recording)->warnings().size(), 1u);
  EXPECT_THAT((*recording)->warnings()[0], HasSubstr(": 5 records have an id that no event has"));
}

TEST(Recording, NamesEventsByTheirAttrWhereTheFileDoesNot) {
  const std::string path = UsualPath();
  std::vector<std::byte> file = ReadFile(path);
  auto header = DecodeFileHeader(file);
  header->features.reset();
  const auto start = EncodeFileHeader(*header);
  std::copy(start.begin(), start.end(), file.begin());
  WriteFile(path, file);
  auto recording = Recording::Open(path);
  EXPECT_EQ((*recording)->events()[0].name, "cpu-clock");
}

// --- cut and corrupt files ---------------------------------------------------------------------

TEST(Recording, OfAKilledRecorderHasAllThatWasFlushed) {
  const std::string path = TestPath("killed.data");
  const perf_event::Attr attr = UsualAttr();
  auto writer = Writer::Create(path, {{attr, "a", {10}}}, 0);
  RecordBuilder records(attr);
  ASSERT_TRUE(AppendAll(**writer, records.At(1).Sample(1)).ok());
  EXPECT_EQ(ToldFile(path, Order::kTime),
            "1 SAMPLE # F: the recording was not ended (its data size is 0); all whole records are "
            "read");
  ASSERT_TRUE((*writer)->FinishRound().ok());
  ASSERT_TRUE(AppendAll(**writer, records.At(2).Sample(1)).ok());
  EXPECT_EQ(ToldFile(path, Order::kTime), "1 SAMPLE");
  ASSERT_TRUE((*writer)->FinishRound().ok());
  EXPECT_EQ(ToldFile(path, Order::kTime), "1 SAMPLE, 2 SAMPLE");
}

TEST(Recording, CutAnywhereGivesItsWholeRecordsAndOneWarning) {
  const std::vector<std::byte> file = ReadFile(UsualPath());
  const std::string path = TestPath("cut.data");
  const uint64_t data_begin = DecodeFileHeader(file)->data.offset;
  size_t before = 0;
  for (size_t size = 0; size < file.size(); size += 97) {
    WriteFile(path, std::span(file).first(size));
    auto recording = Recording::Open(path);
    if (size < data_begin) {
      EXPECT_TRUE(absl::IsDataLoss(recording.status())) << size;
      continue;
    }
    ASSERT_TRUE(recording.ok()) << size << ": " << recording.status();
    size_t records = 0;
    const absl::Status status =
        (*recording)->ForEach(Order::kTime, [&](const TimedRecord&) { ++records; });
    EXPECT_TRUE(status.ok()) << size << ": " << status;
    EXPECT_GE(records, before);
    before = records;
    EXPECT_EQ((*recording)->warnings().size(), 1u) << size;
  }
  EXPECT_EQ(before, 2u + kUsualSamples);
}

TEST(Recording, WithACorruptRecordGivesWhatIsBeforeIt) {
  const std::string path = UsualPath();
  std::vector<std::byte> file = ReadFile(path);
  const uint64_t begin = DecodeFileHeader(file)->data.offset;
  uint16_t comm_size;
  std::memcpy(&comm_size, file.data() + begin + 6, sizeof(comm_size));
  file[begin + comm_size + 6] = file[begin + comm_size + 7] = std::byte{0};
  WriteFile(path, file);
  EXPECT_EQ(ToldFile(path, Order::kTime),
            "COMM ! F: offset " + std::to_string(begin + comm_size) +
                ": record of type 10: field size is 0, less than a record header");
}

TEST(Recording, WithARecordPastItsDataGivesWhatIsBeforeIt) {
  const std::string path = UsualPath();
  std::vector<std::byte> file = ReadFile(path);
  auto header = DecodeFileHeader(file);
  // Offset of the last record, which ends the round.
  const uint64_t last = header->data.offset + header->data.size - 8;
  file[last + 6] = std::byte{16};
  WriteFile(path, file);
  EXPECT_THAT(ToldFile(path, Order::kTime),
              testing::EndsWith("190 SAMPLE ! F: offset " + std::to_string(last) +
                                ": the last record is cut: its field size is past the end of the "
                                "data section"));
}

TEST(Recording, SaysThatItsEndIsMissing) {
  const std::string path = UsualPath();
  std::vector<std::byte> file = ReadFile(path);
  const auto header = DecodeFileHeader(file);
  const auto whole = Recording::Open(path);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_FALSE((*whole)->is_incomplete());
  file.resize(header->data.offset + header->data.size - 100);
  const std::string cut_path = TestPath("end_missing.data");
  WriteFile(cut_path, file);
  const auto cut = Recording::Open(cut_path);
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_TRUE((*cut)->is_incomplete());
}

TEST(Recording, NeverFailsOnAnyFlippedByte) {
  const std::vector<std::byte> file = ReadFile(UsualPath());
  const std::string path = TestPath("flipped.data");
  for (size_t at = 0; at < file.size(); at += 3) {
    std::vector<std::byte> flipped = file;
    flipped[at] = static_cast<std::byte>(0xff ^ static_cast<unsigned>(flipped[at]));
    WriteFile(path, flipped);
    ToldFile(path, at % 2 == 0 ? Order::kTime : Order::kFile);  // only the sanitizers check it
  }
}

TEST(Recording, ThatIsNoneSaysSo) {
  const std::string path = TestPath("none.data");
  WriteFile(path, BytesOfText("#!/bin/sh\necho this is a script, not a recording\n"));
  EXPECT_EQ(ToldFile(path, Order::kTime),
            "! F: not a perf.data file: offset 0: expected the magic PERFILE2 or PERFFILE");
  WriteFile(path, {});
  EXPECT_EQ(ToldFile(path, Order::kTime),
            "! F: not a perf.data file: offset 0: expected a header of 16 bytes");
  EXPECT_TRUE(absl::IsNotFound(Recording::Open(TestPath("absent")).status()));
}

TEST(Recording, BytesWithoutEndThatAreNoneAreNotReadOn) {
  EXPECT_EQ(Recording::Open("/dev/zero").status().message(),
            "/dev/zero: not a perf.data file: offset 0: expected the magic PERFILE2 or PERFFILE");
}

TEST(Recording, KeepsUnknownRecordsAndPassesOverTraces) {
  const std::string path = TestPath("unknown.data");
  const perf_event::Attr attr = UsualAttr();
  auto writer = Writer::Create(path, {{attr, "a", {10}}}, 0);
  std::vector<std::byte> bytes;
  AddRecord(250, std::string(16, 'x'), &bytes);
  AddRecord(0x8001, std::string(8, 'x'), &bytes);
  std::string auxtrace(40, '\0');
  auxtrace[0] = 24;  // size of the trace that follows
  AddRecord(perf_event::kRecordAuxtrace, auxtrace, &bytes);
  bytes.insert(bytes.end(), 24, std::byte{0});
  RecordBuilder records(attr);
  records.At(1).Sample(1);
  bytes.insert(bytes.end(), records.bytes().begin(), records.bytes().end());
  const std::span<const std::byte> piece = bytes;
  ASSERT_TRUE((*writer)->Append({&piece, 1}).ok());
  ASSERT_TRUE((*writer)->Finish({}).ok());
  EXPECT_EQ(ToldFile(path, Order::kTime), "type 250, type 32769, AUXTRACE +24, 1 SAMPLE");
}

TEST(Recording, WithoutAnyRecordIsEmpty) {
  const std::string path = TestPath("empty.data");
  auto writer = Writer::Create(path, {{UsualAttr(), "a", {10}}}, 0);
  ASSERT_TRUE((*writer)->Finish(UsualFeatures()).ok());
  EXPECT_EQ(ToldFile(path, Order::kTime), "");
  EXPECT_EQ((*Recording::Open(path))->features(), UsualFeatures());
}

// --- the other byte order ----------------------------------------------------------------------

TEST(Recording, OfTheOtherByteOrderReadsAsTheNativeOne) {
  RecordBuilder records = SomeRecords();
  const std::string path = TestPath("foreign.data");
  WriteFile(path, FileInOtherOrder(records));
  EXPECT_EQ(ToldFile(path, Order::kTime), "COMM, 10 SAMPLE, 20 SAMPLE, 30 SAMPLE");
  auto recording = Recording::Open(path);
  std::vector<std::byte> native;
  ASSERT_TRUE((*recording)
                  ->ForEach(Order::kFile,
                            [&](const TimedRecord& record) {
                              const auto bytes = record.record.bytes();
                              native.insert(native.end(), bytes.begin(), bytes.end());
                            })
                  .ok());
  EXPECT_TRUE(std::ranges::equal(native, records.bytes()));
}

TEST(Recording, StackDumpsOfTheOtherByteOrderAreReadAsTheyStandAndComeWholeWhenAskedFor) {
  perf_event::Attr attr = UsualAttr();
  attr.sample_type |= perf_event::kSampleStackUser;
  RecordBuilder records(attr);
  perf_event::Sample sample;
  sample.time = 10;
  sample.user_stack = BytesOfText("the bytes of a stack");
  sample.user_stack_size = 32;
  records.Add(perf_event::kRecordSample, perf_event::kMiscUser, sample);
  const std::string path = TestPath("foreign_stack.data");
  WriteFile(path, FileInOtherOrder(records));
  auto recording = Recording::Open(path);
  const perf_event::RecordLayout layout = (*recording)->events().front().layout;
  std::vector<std::byte> stored;
  std::string stacks;
  for (const Order order : {Order::kFile, Order::kTime, Order::kStored}) {
    const absl::Status read = (*recording)->ForEach(order, [&](const TimedRecord& record) {
      perf_event::Sample back;
      ASSERT_TRUE(Decode(record.record, layout, &back));
      absl::StrAppend(&stacks, back.time, " ", std::string(TextOf(back.user_stack)), ", ");
      if (order != Order::kStored) return;
      stored.assign(record.record.bytes().begin(), record.record.bytes().end());
    });
    EXPECT_TRUE(read.ok()) << read;
  }
  EXPECT_EQ(stacks, "10 the bytes of a stack, 10 the bytes of a stack, 10 the bytes of a stack, ");
  EXPECT_TRUE(std::ranges::equal(stored, records.bytes()));
}

// --- streams -----------------------------------------------------------------------------------

constexpr char kStreamInTime[] = "ATTR, UPDATE, FEATURE, COMM, 10 SAMPLE, 20 SAMPLE, 30 SAMPLE";

std::vector<std::byte> SomeStream() {
  return StreamOf({{UsualAttr(), "cycles:u", {1, 2}}}, SomeRecords().bytes());
}

TEST(Recording, OfAStreamWithMoreEventsThanAnybodyRecordsIsRefusedOrReadWithoutThem) {
  std::vector<EventToWrite> events;
  for (uint64_t i = 0; i < kMostEvents + 2; ++i) events.push_back({UsualAttr(), "e", {i}});
  const std::vector<std::byte> stream = StreamOf(events, SomeRecords().bytes());
  const std::string path = TestPath("events.data");
  WriteFile(path, stream);
  EXPECT_EQ(ToldFile(path, Order::kTime),
            "! F: it has more than 8192 events, which is the limit; record fewer events at a time");
  const std::string told = ToldPipe(stream, Order::kTime, 60000);
  EXPECT_EQ(told.substr(told.find(" # ")),
            " # F: 2 events are left out: no more than 8192 are read");
}

TEST(Recording, OfAStreamReadsAsAFile) {
  const std::string path = TestPath("stream.data");
  WriteFile(path, SomeStream());
  EXPECT_EQ(ToldFile(path, Order::kTime), kStreamInTime);
  auto recording = Recording::Open(path);
  ASSERT_TRUE(recording.ok());
  ASSERT_EQ((*recording)->events().size(), 1u);
  EXPECT_EQ((*recording)->events()[0].name, "cycles:u");
  EXPECT_EQ((*recording)->features().hostname, "pipehost");
  EXPECT_EQ(Told(**recording, Order::kTime), kStreamInTime);
  EXPECT_EQ(Told(**recording, Order::kTime), kStreamInTime);  // events are not added again
  EXPECT_EQ((*recording)->events().size(), 1u);
}

// Features apply to all samples, so they are read ahead. The new name of an event applies from its
// record on.
TEST(Recording, OfAStreamInAFileKnowsWhatComesBehindTheSamples) {
  const auto number = [](uint64_t value) { return std::string(TextOf(BytesOf(value))); };
  std::vector<std::byte> stream = SomeStream();
  AddRecord(perf_event::kRecordEventUpdate,
            number(kEventUpdateName) + number(1) + std::string("later\0\0\0", 8), &stream);
  AddRecord(perf_event::kRecordHeaderFeature, number(kFeatureTotalMem) + number(4'000'000),
            &stream);
  const std::string path = TestPath("stream.data");
  WriteFile(path, stream);
  auto recording = *Recording::Open(path);
  EXPECT_EQ(recording->features().total_mem_kb, 4'000'000);
  EXPECT_EQ(recording->events()[0].name, "cycles:u");
  EXPECT_THAT(Told(*recording, Order::kTime), HasSubstr("10 SAMPLE, 20 SAMPLE, 30 SAMPLE"));
  EXPECT_EQ(recording->events()[0].name, "later");
  EXPECT_EQ(recording->features().total_mem_kb, 4'000'000);
}

TEST(Recording, OfAPipeReadsAsAFile) {
  for (const size_t step : {size_t{1}, size_t{7}, size_t{100000}}) {
    EXPECT_EQ(ToldPipe(SomeStream(), Order::kTime, step), kStreamInTime);
    EXPECT_EQ(ToldPipe(SomeStream(), Order::kFile, step),
              "ATTR, UPDATE, FEATURE, COMM, 30 SAMPLE, 10 SAMPLE, 20 SAMPLE");
  }
}

TEST(Recording, InFileLayoutCanComeThroughAPipe) {
  EXPECT_EQ(ToldPipe(ReadFile(UsualPath()), Order::kTime, 1000), kUsualInTime);
}

TEST(Recording, OfALongPipeIsInOrderAndInBoundedMemory) {
  RecordBuilder records(UsualAttr());
  std::vector<std::byte> bytes;
  const std::vector<uint64_t> chain(100, 0x1234);
  for (int round = 0; round < 40; ++round) {
    records.Clear();
    for (uint64_t i = 0; i < 100; ++i)
      records.At(1 + 1000 * round + (i * 37) % 100).Sample(1, chain);
    bytes.insert(bytes.end(), records.bytes().begin(), records.bytes().end());
    AddRecord(perf_event::kRecordFinishedRound, "", &bytes);
  }
  const std::string told = ToldPipe(StreamOf({{UsualAttr(), "a", {}}}, bytes), Order::kTime, 60000);
  std::string expected = "ATTR, UPDATE, FEATURE";
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 100; ++i)
      expected += ", " + std::to_string(1 + 1000 * round + i) + " SAMPLE";
  }
  EXPECT_EQ(told, expected);
}

TEST(Recording, OfACutPipeGivesItsWholeRecords) {
  const std::vector<std::byte> stream = SomeStream();
  EXPECT_THAT(ToldPipe(std::span(stream).first(stream.size() - 5), Order::kTime, 1000),
              HasSubstr("10 SAMPLE, 30 SAMPLE # "));
}

// --- compressed --------------------------------------------------------------------------------

// Returns `bytes` as one zstd stream in COMPRESSED or COMPRESSED2 records of at most `step` bytes
// each.
std::vector<std::byte> Compressed(std::span<const std::byte> bytes, uint32_t type, size_t step) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 1));
  std::vector<std::byte> records;
  for (size_t at = 0; at < packed.size(); at += step) {
    std::string body = packed.substr(at, step);
    if (type == perf_event::kRecordCompressed2) {
      std::string size;
      FieldWriter(&size).U64(body.size());
      body = size + body;
      body.resize((body.size() + 7) / 8 * 8);
    }
    AddRecord(type, body, &records);
  }
  return records;
}

TEST(Recording, CompressedReadsAsPlainWhereverItsRecordsAreSplit) {
  const std::string path = TestPath("compressed.data");
  const RecordBuilder records = SomeRecords();
  for (const uint32_t type : {perf_event::kRecordCompressed, perf_event::kRecordCompressed2}) {
    for (size_t step = 1; step < 120; step += 3) {
      WriteFile(path, StreamOf({{UsualAttr(), "a", {}}}, Compressed(records.bytes(), type, step)));
      ASSERT_EQ(ToldFile(path, Order::kTime), kStreamInTime) << type << ", " << step;
    }
  }
}

TEST(Recording, CompressedAndLongReadsAsPlain) {
  RecordBuilder records(UsualAttr());
  const std::vector<uint64_t> chain(2000, 0x1234);
  std::string expected = "ATTR, UPDATE, FEATURE";
  for (uint64_t time = 1; time <= 300; ++time) {  // 5 MB in several chunks
    records.At(time).Sample(1, chain);
    expected += ", " + std::to_string(time) + " SAMPLE";
  }
  const std::string path = TestPath("long.data");
  WriteFile(path, StreamOf({{UsualAttr(), "a", {}}},
                           Compressed(records.bytes(), perf_event::kRecordCompressed2, 50)));
  EXPECT_EQ(ToldFile(path, Order::kTime), expected);
  EXPECT_EQ(ToldFile(path, Order::kFile), expected);
}

TEST(Recording, WithCorruptCompressionSaysWhere) {
  std::vector<std::byte> compressed =
      Compressed(SomeRecords().bytes(), perf_event::kRecordCompressed, 60000);
  compressed[8] = std::byte{0};
  const std::string path = TestPath("bad_zstd.data");
  const std::vector<std::byte> stream = StreamOf({{UsualAttr(), "a", {}}}, compressed);
  WriteFile(path, stream);
  EXPECT_EQ(ToldFile(path, Order::kTime),
            "ATTR, UPDATE, FEATURE ! F: offset " +
                std::to_string(stream.size() - compressed.size()) +
                ": compressed record: field data: zstd: Unknown frame descriptor");
}

// --- directories -------------------------------------------------------------------------------

TEST(Recording, OfADirectoryIsOne) {
  const std::string directory = TestPath("directory.data");
  mkdir(directory.c_str(), 0700);
  WriteUsualRecording(directory + "/data");
  RecordBuilder records(UsualAttr());
  records.At(125).Sample(1).At(195).Sample(1);
  WriteFile(directory + "/data.0", records.bytes());
  records.Clear();
  records.At(5).Sample(1);
  WriteFile(directory + "/data.1", records.bytes());
  EXPECT_EQ(ToldFile(directory, Order::kTime),
            "COMM, MMAP2, 5 SAMPLE, 110 SAMPLE, 120 SAMPLE, 125 SAMPLE, 130 SAMPLE, 140 SAMPLE, "
            "150 SAMPLE, 160 SAMPLE, 170 SAMPLE, 180 SAMPLE, 190 SAMPLE, 195 SAMPLE");
}

}  // namespace
}  // namespace profiler::perf_data
