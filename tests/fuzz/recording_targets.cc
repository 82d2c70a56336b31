// Fuzzes whole recordings: as a file, through a pipe, and inside compressed records.

#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "src/base/byte_reader.h"
#include "src/base/unique_fd.h"
#include "src/format/perf_data/format/feature_values.h"
#include "src/format/perf_data/format/field_io.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_data/write/writer.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/attr_codec.h"
#include "src/format/perf_event/codec.h"
#include "src/format/perf_event/record_types.h"
#include "src/format/perf_event/testing/record_builder.h"
#include "src/profile/profile_builder.h"
#include "src/profile/testing/fake_symbolizer.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/recording_files.h"
#include "tests/fuzz/use_features.h"

namespace profiler::fuzz {
namespace {

using perf_data::Recording;
using perf_data::TimedRecord;

void Append(std::span<const std::byte> bytes, Bytes* out) {
  out->insert(out->end(), bytes.begin(), bytes.end());
}

void DecodeRecord(const TimedRecord& timed, const Recording& recording) {
  const auto& events = recording.events();
  if (timed.event >= events.size()) return;
  const perf_event::RecordLayout& layout = events[timed.event].layout;
  perf_event::VisitRecordType(timed.record.type(), [&](auto record) {
    return perf_event::Decode(timed.record, layout, &record);
  });
}

// Does everything that a report does, with names that need no files.
void MakeProfile(Recording& recording, size_t* records) {
  profile::FakeSymbolizer symbolizer;
  profile::ProfileBuilder builder(symbolizer, {.dimensions = {true, false}});
  for (const auto& entry : recording.features().build_ids) {
    builder.AddBuildId(entry.filename, entry.build_id);
  }
  size_t known_events = 0;
  (void)recording.ForEach(Recording::Order::kTime, [&](const TimedRecord& timed) {
    const auto& events = recording.events();
    for (; known_events < events.size(); ++known_events) {
      builder.AddEvent(events[known_events].name, events[known_events].attr);
    }
    *records += timed.record.type() != perf_event::kRecordFinishedRound;
    builder.Add(timed.record, timed.event, timed.time);
  });
  (void)std::move(builder).Finish();
}

// True for one input in 64, chosen by its bytes. The builder allocates tens of megabytes for its
// tables, and sanitizers fill them, which is too slow for every input.
bool MakesProfile(std::span<const std::byte> input) {
  unsigned sum = 0;
  for (std::byte byte : input) sum = sum * 31 + std::to_integer<unsigned>(byte);
  return sum % 64 == 0;
}

// Reads all records in time order: into a profile if `as_profile`, otherwise one by one. Returns
// the number of records, without markers of rounds.
size_t ReadInTimeOrder(Recording& recording, bool as_profile) {
  size_t records = 0;
  if (as_profile) {
    MakeProfile(recording, &records);
    return records;
  }
  (void)recording.ForEach(Recording::Order::kTime, [&](const TimedRecord& timed) {
    records += timed.record.type() != perf_event::kRecordFinishedRound;
    DecodeRecord(timed, recording);
  });
  return records;
}

void ReadFile(std::span<const std::byte> input) {
  static MemoryFile& file = *new MemoryFile();
  file.Fill(input);
  auto recording = Recording::Open(file.path());
  if (!recording.ok()) return;
  size_t in_file_order = 0;
  (void)(*recording)->ForEach(Recording::Order::kFile, [&](const TimedRecord& timed) {
    in_file_order += timed.record.type() != perf_event::kRecordFinishedRound;
    DecodeRecord(timed, **recording);
  });
  const size_t in_time_order = ReadInTimeOrder(**recording, MakesProfile(input));
  UseFeatures((*recording)->features());
  Require(in_file_order == in_time_order, "either order visits every record");
}

// Number of bytes that a pipe holds before its writer has to wait.
constexpr size_t kPipeSize = 64 << 10;

void ReadPipe(std::span<const std::byte> input) {
  input = input.first(std::min(input.size(), kPipeSize));
  const UniqueFd pipe = FilledPipe(input);
  auto recording = Recording::Open(PathOf(pipe.get()));
  if (!recording.ok()) return;
  (void)ReadInTimeOrder(**recording, MakesProfile(input));
  UseFeatures((*recording)->features());
}

// Options of the compressed target, from the first byte of its input.
enum CompressedForm : uint8_t {
  kAsCompressed2 = 1 << 0,
  kAlreadyZstd = 1 << 1,  // the input is a zstd stream already
  kOtherByteOrder = 1 << 2,
};

Bytes Compress(std::span<const std::byte> plain) {
  Bytes compressed(ZSTD_compressBound(plain.size()));
  const size_t size =
      ZSTD_compress(compressed.data(), compressed.size(), plain.data(), plain.size(), 1);
  Require(!ZSTD_isError(size), "zstd compresses anything");
  compressed.resize(size);
  return compressed;
}

template <class T>
void AppendNumber(T value, bool swapped, Bytes* out) {
  Append(BytesOf(swapped ? perf_data::SwapBytes(value) : value), out);
}

void AppendHeader(uint32_t type, size_t size, bool swapped, Bytes* out) {
  const perf_event::RecordHeader header = {type, 0, static_cast<uint16_t>(size)};
  Append(BytesOf(swapped ? perf_event::SwapHeader(header) : header), out);
}

// Returns a stream with one event, and `zstd` in compressed records of `piece` bytes each.
Bytes CompressedStream(std::span<const std::byte> zstd, size_t piece, uint8_t form) {
  const bool swapped = (form & kOtherByteOrder) != 0;
  constexpr size_t kHeader = sizeof(perf_event::RecordHeader);
  Bytes stream, attr_bytes;
  AppendNumber(perf_data::kMagic2, swapped, &stream);
  AppendNumber(uint64_t{perf_data::kPipeHeaderSize}, swapped, &stream);
  perf_event::Attr attr = perf_data::UsualAttr();
  attr.size = sizeof(attr);
  if (swapped) attr = perf_event::SwapAttrToForeign(attr);
  AppendHeader(perf_event::kRecordHeaderAttr, kHeader + sizeof(attr), swapped, &stream);
  Append(BytesOf(attr), &stream);
  while (!zstd.empty()) {
    const std::span<const std::byte> data = zstd.first(std::min(piece, zstd.size()));
    zstd = zstd.subspan(data.size());
    if ((form & kAsCompressed2) != 0) {
      const size_t padding = (8 - data.size() % 8) % 8;
      AppendHeader(perf_event::kRecordCompressed2, kHeader + 8 + data.size() + padding, swapped,
                   &stream);
      AppendNumber(uint64_t{data.size()}, swapped, &stream);
      Append(data, &stream);
      stream.resize(stream.size() + padding);
    } else {
      AppendHeader(perf_event::kRecordCompressed, kHeader + data.size(), swapped, &stream);
      Append(data, &stream);
    }
  }
  return stream;
}

// Reads a compressed stream. The input is { u8 form; u8 piece size - 1; records or a zstd stream }.
void ReadCompressed(std::span<const std::byte> input) {
  if (input.size() < 2) return;
  const auto form = std::to_integer<uint8_t>(input[0]);
  const size_t piece = std::to_integer<size_t>(input[1]) + 1;
  const std::span<const std::byte> rest = input.subspan(2);
  if ((form & kAlreadyZstd) != 0) return ReadFile(CompressedStream(rest, piece, form));
  ReadFile(CompressedStream(Compress(rest), piece, form));
}

// --- seeds -------------------------------------------------------------------------------------

// Returns a few records of every kind that changes the meaning of later records.
perf_event::RecordBuilder SomeRecords() {
  perf_event::RecordBuilder records(perf_data::UsualAttr());
  records.By(7, 7).At(100).Id(1).Comm("cat", true).Mmap2(0x1000, 0x200000, 0, "/bin/cat");
  records.Mmap(0x300000, 0x1000, 0, "//anon").Fork(8, 8);
  records.At(130).Sample(0x1234, {perf_event::kContextUser, 0x1234, 0x1300});
  records.At(120).By(8, 8).Sample(0x1300, {perf_event::kContextUser, 0x1300});
  records.At(140).Lost(3).Throttle().Ksymbol(0xffffffff81000000, 0x100, "bpf_prog_1");
  records.At(150).CallchainDeferred(5, {perf_event::kContextUser, 0x1234}).Exit();
  return records;
}

void AppendRoundMarker(Bytes* out) {
  AppendHeader(perf_event::kRecordFinishedRound, sizeof(perf_event::RecordHeader), false, out);
}

Bytes SomeStream() {
  Bytes bytes;
  Append(SomeRecords().bytes(), &bytes);
  AppendRoundMarker(&bytes);
  return perf_data::StreamOf({{perf_data::UsualAttr(), "cpu-clock", {1, 2}}}, bytes);
}

// Returns a stream that begins with the records with which streams of ChromeOS's perf begin.
Bytes OldStream() {
  Bytes front, stream = SomeStream();
  for (const uint32_t type : {69, 72, 77}) {
    perf_data::AddRecord(type, std::string_view("\4\0\0\0text", 8), &front);
  }
  constexpr size_t kStreamHeader = 16;
  stream.insert(stream.begin() + kStreamHeader, front.begin(), front.end());
  return stream;
}

// Returns one record of each type that perf's tools write, except types that contain other records
// or are followed by bytes. All numbers in the records are `number`.
Bytes StreamOfOwnRecords(uint64_t number) {
  constexpr uint32_t kLast = perf_event::kRecordSchedstatDomain;
  std::string body;
  for (int i = 0; i < 40; ++i) body += TextOf(BytesOf(number));
  Bytes records;
  Append(SomeRecords().bytes(), &records);
  for (uint32_t type = perf_event::kRecordUserFirst; type <= kLast; ++type) {
    if (type == perf_event::kRecordCompressed || type == perf_event::kRecordCompressed2) continue;
    if (type == perf_event::kRecordAuxtrace || type == perf_event::kRecordHeaderTracingData)
      continue;
    perf_data::AddRecord(type, body, &records);
  }
  return perf_data::StreamOf({{perf_data::UsualAttr(), "cpu-clock", {1, 2}}}, records);
}

Bytes FileWith(perf_event::Attr attr, std::span<const std::byte> records) {
  const std::string path = "/tmp/profiler_fuzz_seed." + std::to_string(getpid());
  auto writer = perf_data::Writer::Create(path, {{attr, "cpu-clock", {1, 2}}}, 1);
  Require(writer.ok(), "a seed can be written");
  const std::span<const std::byte> pieces[] = {records};
  Require((*writer)->Append(pieces).ok() && (*writer)->FinishRound().ok() &&
              (*writer)->Finish(perf_data::UsualFeatures()).ok(),
          "a seed can be written");
  Bytes bytes = perf_data::ReadFile(path);
  unlink(path.c_str());
  return bytes;
}

// Returns files without attr entries. Their headers claim different sizes and offsets of entries,
// some of them impossible. Random changes of the other seeds would hardly make such a header.
std::vector<Bytes> FilesWithoutEvents() {
  return {perf_data::FileWithoutEvents(80, 104), perf_data::FileWithoutEvents(0, 104),
          perf_data::FileWithoutEvents(uint64_t{1} << 40, 104),
          perf_data::FileWithoutEvents(80, UINT64_MAX - 50)};
}

std::vector<Bytes> PipeSeeds() {
  return {SomeStream(), OldStream(),
          CompressedStream(Compress(SomeRecords().bytes()), 60, kAsCompressed2)};
}

std::vector<Bytes> CompressedSeeds() {
  std::vector<Bytes> seeds;
  for (uint8_t form = 0; form < 8; ++form) {
    Bytes& seed = seeds.emplace_back(Bytes{std::byte{form}, std::byte{49}});
    Bytes plain;
    Append(SomeRecords().bytes(), &plain);
    AppendRoundMarker(&plain);
    Append((form & kAlreadyZstd) != 0 ? Compress(plain) : plain, &seed);
  }
  return seeds;
}

}  // namespace

std::vector<Bytes> FileSeeds() {
  perf_event::RecordBuilder everything(
      perf_event::SampleAttr(perf_event::kSampleAll & ~perf_event::kSampleWeight));
  everything.By(1, 2).At(3).Sample(4, {5, 6}).Comm("all");
  std::vector<Bytes> seeds = {FileWith(perf_data::UsualAttr(), SomeRecords().bytes()),
                              FileWith(everything.attr(), everything.bytes()), SomeStream(),
                              CompressedStream(Compress(SomeRecords().bytes()), 100, 0)};
  for (Bytes& file : FilesWithoutEvents()) seeds.push_back(std::move(file));
  for (const uint64_t number : {0, 1, 2, 3}) seeds.push_back(StreamOfOwnRecords(number));
  seeds.push_back(perf_data::FileInOtherOrder(everything));
  return seeds;
}

FuzzTarget FileTarget() {
  return {"file", "a recording in a file", ReadFile, FileSeeds, /*reads_recordings=*/true};
}
FuzzTarget PipeTarget() {
  return {"pipe", "a recording through a pipe", ReadPipe, PipeSeeds, /*reads_recordings=*/true};
}
FuzzTarget CompressedTarget() {
  return {"compressed", "what compressed records hold", ReadCompressed, CompressedSeeds};
}

}  // namespace profiler::fuzz
