#include "src/format/perf_data/testing/recording_builder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <thread>

#include "src/base/byte_reader.h"
#include "src/format/perf_data/format/field_io.h"
#include "src/format/perf_data/format/file_header.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/write/stream_writer.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/attr_codec.h"

namespace profiler::perf_data {
namespace {

std::string TypeName(uint32_t type) {
  static const auto& names = *new std::map<uint32_t, std::string>{
      {perf_event::kRecordMmap2, "MMAP2"},           {perf_event::kRecordComm, "COMM"},
      {perf_event::kRecordSample, "SAMPLE"},         {perf_event::kRecordLost, "LOST"},
      {perf_event::kRecordFinishedRound, "ROUND"},   {perf_event::kRecordHeaderAttr, "ATTR"},
      {perf_event::kRecordHeaderFeature, "FEATURE"}, {perf_event::kRecordEventUpdate, "UPDATE"},
      {perf_event::kRecordAuxtrace, "AUXTRACE"}};
  const auto it = names.find(type);
  return it == names.end() ? "type " + std::to_string(type) : it->second;
}

}  // namespace

std::string TestPath(std::string_view name) { return testing::TempDir() + "/" + std::string(name); }

std::vector<std::byte> ReadFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  const auto bytes = BytesOfText(text);
  return {bytes.begin(), bytes.end()};
}

void WriteFile(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  const std::string_view text = TextOf(bytes);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
}

perf_event::Attr UsualAttr() {
  using namespace perf_event;  // NOLINT: the names of twenty bits
  Attr attr = SampleAttr(kSampleIdentifier | kSampleIp | kSampleTid | kSampleTime | kSampleCpu |
                         kSamplePeriod | kSampleCallchain);
  attr.sample_period = 999;
  return attr;
}

Features UsualFeatures() {
  Features features;
  features.hostname = "testhost";
  features.osrelease = "6.1.0-test";
  features.version = "1.0";
  features.arch = "x86_64";
  features.nrcpus = {{2, 2}};
  features.cpudesc = "Test CPU";
  features.cpuid = "GenuineIntel,6,85,7";
  features.total_mem_kb = 4000000;
  features.cmdline = {"profiler", "record", "-g"};
  features.sample_time = {{110, 190}};
  features.clock_data = {{1, 1700000000000000000, 100}};
  features.other[200] = "names of ours";
  return features;
}

absl::Status AppendAll(Writer& writer, perf_event::RecordBuilder& records) {
  const std::span<const std::byte> bytes = records.bytes();
  // Write two pieces, because records that wrap around the end of a ring come in two pieces.
  const std::span<const std::byte> pieces[] = {bytes.first(bytes.size() / 2),
                                               bytes.subspan(bytes.size() / 2)};
  const absl::Status status = writer.Append(pieces);
  records.Clear();
  return status;
}

std::unique_ptr<Writer> WriteUsualRecording(const std::string& path, StreamListener listener) {
  const perf_event::Attr attr = UsualAttr();
  auto writer = Writer::Create(path, {{attr, "cpu-clock", {1, 2}}},
                               {.id_capacity = 4, .on_stream = std::move(listener)});
  EXPECT_TRUE(writer.ok()) << writer.status();
  perf_event::RecordBuilder records(attr);
  // The address equals the file offset, because some versions of perf show the address and others
  // the file offset.
  records.By(7, 7).Comm("cat").Mmap2(0x1000, 0x200000, 0x1000, "/bin/cat");
  for (const std::vector<uint64_t>& round :
       std::vector<std::vector<uint64_t>>{{110, 130, 120, 140}, {160, 150, 170}, {190, 180}}) {
    for (uint64_t time : round) {
      records.At(time).Id(1 + time / 10 % 2).On(static_cast<uint32_t>(time / 10 % 2));
      records.Period(1000).Sample(time * 1000, {perf_event::kContextUser, time * 1000, 0x1234});
    }
    EXPECT_TRUE(AppendAll(**writer, records).ok());
    EXPECT_TRUE((*writer)->FinishRound().ok());
  }
  const absl::Status status = (*writer)->Finish(UsualFeatures());
  EXPECT_TRUE(status.ok()) << status;
  return *std::move(writer);
}

std::string Told(Recording& recording, Recording::Order order, const Recording::Window& window) {
  std::string told;
  const auto tell = [&](const TimedRecord& record) {
    if (!told.empty()) told += ", ";
    if (record.time != 0) told += std::to_string(record.time) + " ";
    told += TypeName(record.record.type());
    if (record.event != 0) told += "/" + std::to_string(record.event);
    if (!record.payload.empty()) told += " +" + std::to_string(record.payload.size());
  };
  const absl::Status status = recording.ForEach(order, tell, window);
  if (!status.ok()) told += " ! " + std::string(status.message());
  return told;
}

std::string ToldFile(const std::string& path, Recording::Order order) {
  auto recording = Recording::Open(path);
  std::string told = "! " + std::string(recording.status().message());
  if (recording.ok()) {
    told = Told(**recording, order);
    for (const std::string& warning : (*recording)->warnings()) told += " # " + warning;
  }
  // Removes the test's directory from the text.
  for (size_t at; (at = told.find(path)) != std::string::npos;) told.replace(at, path.size(), "F");
  return told;
}

std::string ToldPipe(std::span<const std::byte> bytes, Recording::Order order, size_t step) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  std::thread writer([bytes, step, fd = ends[1]] {
    for (size_t at = 0; at < bytes.size(); at += step) {
      const size_t size = std::min(step, bytes.size() - at);
      EXPECT_EQ(write(fd, bytes.data() + at, size), static_cast<ssize_t>(size));
    }
    close(fd);
  });
  const std::string told = ToldFile("/proc/self/fd/" + std::to_string(ends[0]), order);
  close(ends[0]);
  writer.join();
  return told;
}

std::vector<std::byte> FileWithoutEvents(uint64_t attr_entry_size, uint64_t attrs_offset) {
  FileHeader header;
  header.attr_entry_size = attr_entry_size;
  header.attrs = {attrs_offset, 0};
  header.data = {kFileHeaderSize, sizeof(perf_event::RecordHeader)};
  const auto start = EncodeFileHeader(header);
  std::vector<std::byte> file(start.begin(), start.end());
  AddRecord(perf_event::kRecordFinishedRound, "", &file);
  return file;
}

void AddRecord(uint32_t type, std::string_view body, std::vector<std::byte>* out) {
  const perf_event::RecordHeader header = {
      type, 0, static_cast<uint16_t>(sizeof(perf_event::RecordHeader) + body.size())};
  for (const std::span<const std::byte> piece : {BytesOf(header), BytesOfText(body)}) {
    out->insert(out->end(), piece.begin(), piece.end());
  }
}

std::vector<std::byte> FileInOtherOrder(const perf_event::RecordBuilder& records) {
  perf_event::Attr attr = records.attr();
  attr.size = sizeof(attr);
  FileHeader header;
  header.swapped = true;
  header.attr_entry_size = sizeof(attr) + sizeof(FileSection);
  header.attrs = {kFileHeaderSize, header.attr_entry_size};
  header.data = {header.attrs.offset + header.attrs.size, records.bytes().size()};
  const perf_event::Attr foreign_attr = perf_event::SwapAttrToForeign(attr);
  const FileSection no_ids;
  const auto start = EncodeFileHeader(header);
  std::vector<std::byte> file(start.begin(), start.end());
  for (const std::span<const std::byte> piece :
       {BytesOf(foreign_attr), BytesOf(no_ids), records.bytes()}) {
    file.insert(file.end(), piece.begin(), piece.end());
  }
  std::byte* at = file.data() + header.data.offset;
  for (const perf_event::RawRecord record : records.records()) {
    const size_t size = record.bytes().size();
    perf_event::SwapToForeign({at, size}, records.layout());
    at += size;
  }
  return file;
}

std::vector<std::byte> StreamOf(const std::vector<EventToWrite>& events,
                                std::span<const std::byte> records) {
  std::string start;
  FieldWriter(&start).Fields(kMagic2, uint64_t{kPipeHeaderSize});
  for (const EventToWrite& event : events) {
    std::vector<std::byte> attr;
    perf_event::WriteAttr(event.attr, &attr);
    std::string body(TextOf(attr));
    for (uint64_t id : event.ids) FieldWriter(&body).U64(id);
    AddRecord(perf_event::kRecordHeaderAttr, 0, body, false, &start);
    AddNameRecord(event.ids.empty() ? 0 : event.ids.front(), event.name, false, &start);
  }
  std::string host;
  FieldWriter(&host).String("pipehost");
  AddFeatureRecord(kFeatureHostname, host, false, &start);
  const auto bytes = BytesOfText(start);
  std::vector<std::byte> stream(bytes.begin(), bytes.end());
  stream.insert(stream.end(), records.begin(), records.end());
  return stream;
}

}  // namespace profiler::perf_data
