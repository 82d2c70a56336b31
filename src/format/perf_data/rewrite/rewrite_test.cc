#include "src/format/perf_data/rewrite/rewrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "src/base/byte_reader.h"
#include "src/format/perf_data/format/feature_values.h"
#include "src/format/perf_data/format/features_codec.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_data/write/writer.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/attr_codec.h"

namespace profiler::perf_data {
namespace {

using perf_event::RecordBuilder;
using testing::HasSubstr;
using Compression = RewriteOptions::Compression;
using Order = Recording::Order;

// Rewrites `from` and returns the path of the result.
std::string Rewritten(const std::string& from, std::string_view to, const RewriteOptions& options) {
  const std::string path = TestPath(to);
  const auto summary = Rewrite(from, path, options);
  EXPECT_TRUE(summary.ok()) << summary.status();
  if (summary.ok()) {
    EXPECT_TRUE(summary->reading.ok()) << summary->reading;
  }
  return path;
}

RewriteOptions AsStream() { return {.as_stream = true}; }

RewriteOptions Cut(uint64_t begin, uint64_t end) {
  RewriteOptions options;
  options.time = TimeRange{begin, end, {}, {}};
  return options;
}

Features FeaturesOf(const std::string& path) {
  const auto recording = Recording::Open(path);
  EXPECT_TRUE(recording.ok()) << recording.status();
  if (!recording.ok()) return {};
  EXPECT_TRUE((*recording)->ForEach(Order::kFile, [](const TimedRecord&) {}).ok());
  return (*recording)->features();
}

// Writes a recording with a record, an attr field and features that this program does not know.
std::string StrangeRecording() {
  const std::string path = TestPath("strange.data");
  perf_event::Attr attr = UsualAttr();
  attr.config4 = 7;
  auto writer = *Writer::Create(path, {{attr, "odd", {1}}, {attr, "even", {2}}}, 3);
  RecordBuilder records(attr);
  std::vector<std::byte> unknown;
  AddRecord(60, "a kernel of the future", &unknown);
  AddRecord(1000, "and its perf", &unknown);
  records.Id(1).By(7, 8).At(5).Comm("one").At(6).Sample(0x10).Id(2).By(9, 9).At(7).Sample(0x20);
  EXPECT_TRUE(AppendAll(*writer, records).ok());
  const std::span<const std::byte> piece = unknown;
  EXPECT_TRUE(writer->Append({&piece, 1}).ok());
  Features features = UsualFeatures();
  features.other[77] = "an unknown feature";
  features.other[200] = std::string(200'000, 'x');  // larger than any record
  features.other[kFeatureNumaTopology] = "odd";
  EXPECT_TRUE(writer->Finish(features).ok());
  return path;
}

TEST(Rewrite, CopyOfAFileOfOursHasTheSameBytes) {
  const std::string usual = TestPath("usual.data"), named = TestPath("named.data");
  WriteUsualRecording(usual);
  ASSERT_TRUE(WriteUsualRecording(named)->AppendSection(kFeatureNames, "who is who").ok());
  for (const std::string& path : {usual, named, StrangeRecording()}) {
    EXPECT_TRUE(ReadFile(path) == ReadFile(Rewritten(path, "copy.data", {}))) << path;
  }
}

TEST(Rewrite, CopyOfAFileWithIdsBehindItsDataHasTheSameBytes) {
  const std::string path = TestPath("late_ids.data");
  auto writer = *Writer::Create(path, {{UsualAttr(), "a", {1}}, {UsualAttr(), "b", {}}}, 0);
  const std::vector<uint64_t> late = {5, 6, 7};
  ASSERT_TRUE(writer->AddIds(1, late).ok());
  RecordBuilder records(UsualAttr());
  records.At(3).Id(6).Sample(0x10);
  ASSERT_TRUE(AppendAll(*writer, records).ok());
  ASSERT_TRUE(writer->Finish(UsualFeatures()).ok());
  EXPECT_TRUE(ReadFile(path) == ReadFile(Rewritten(path, "late_copy.data", {})));
  RewriteOptions compress;
  compress.compression = Compression::kZstd;  // moves everything behind the data
  EXPECT_EQ(ToldFile(Rewritten(path, "late_z.data", compress), Order::kTime), "3 SAMPLE/1");
}

TEST(Rewrite, ThereAndBackKeepsEverything) {
  const std::string path = StrangeRecording();
  const std::string stream = Rewritten(path, "strange.pipe", AsStream());
  const std::string back = Rewritten(stream, "strange.back", {});
  // EVENT_DESC was copied, and so were the records with the names.
  EXPECT_EQ(ToldFile(back, Order::kFile), "UPDATE, UPDATE, " + ToldFile(path, Order::kFile));
  EXPECT_THAT(ToldFile(stream, Order::kTime), HasSubstr("type 60, type 1000"));
  Features expected = FeaturesOf(path);
  for (const std::string& file : {stream, back}) {
    Features features = FeaturesOf(file);
    // The content of a HEADER_FEATURE record is padded to eight bytes.
    EXPECT_EQ(features.other[kFeatureNumaTopology], std::string("odd\0\0\0\0\0", 8));
    features.other[kFeatureNumaTopology] = "odd";
    EXPECT_TRUE(features == expected) << file;
  }
  const auto recording = Recording::Open(back);
  ASSERT_TRUE(recording.ok());
  EXPECT_EQ((*recording)->events().at(1).name, "even");
  EXPECT_EQ((*recording)->events().at(1).attr.config4, 7u);
  // A stream of a stream is identical.
  EXPECT_TRUE(ReadFile(stream) == ReadFile(Rewritten(stream, "strange.pipe2", AsStream())));
}

TEST(Rewrite, MakesFilesOfStreamsWhoseAttrsHaveOddSizes) {
  for (const uint32_t size : {64u, 91u, 4096u, 5001u}) {
    std::vector<std::byte> attr;
    perf_event::Attr sized = UsualAttr();
    sized.size = size;
    perf_event::WriteAttr(sized, &attr);
    std::vector<std::byte> stream = StreamOf({}, {});
    AddRecord(perf_event::kRecordHeaderAttr, TextOf(attr), &stream);
    RecordBuilder records(UsualAttr());
    const auto sample = records.At(5).Sample(0x10).bytes();
    stream.insert(stream.end(), sample.begin(), sample.end());
    const std::string path = TestPath("odd_attr.pipe");
    WriteFile(path, stream);
    EXPECT_EQ(ToldFile(Rewritten(path, "odd_attr.data", {}), Order::kTime), "5 SAMPLE") << size;
  }
}

TEST(Rewrite, CompressesAndInflates) {
  const std::string path = StrangeRecording();
  RewriteOptions compress, inflate;
  compress.compression = Compression::kZstd;
  inflate.compression = Compression::kNone;
  for (const bool stream : {false, true}) {
    compress.as_stream = stream;
    const std::string packed = Rewritten(path, "packed.data", compress);
    EXPECT_THAT(ToldFile(packed, Order::kTime), HasSubstr("6 SAMPLE, 7 SAMPLE/1"));
    EXPECT_TRUE(ReadFile(packed) ==
                ReadFile(Rewritten(packed, "packed_copy.data", {.as_stream = stream})));
    if (stream) continue;
    EXPECT_TRUE(ReadFile(path) == ReadFile(Rewritten(packed, "inflated.data", inflate)));
  }
}

// The highest levels take most of a gigabyte, and a file must not be able to ask for that.
TEST(Rewrite, CompressesAnewByNoLevelThatTheFileAloneAsksMuchMemoryFor) {
  RewriteOptions compress;
  compress.compression = Compression::kZstd;
  const std::string path = Rewritten(StrangeRecording(), "packed.data", compress);
  std::vector<std::byte> bytes = ReadFile(path);
  const auto recording = Recording::Open(path);
  ASSERT_TRUE(recording.ok());
  for (const FileLayout::Section& section : (*recording)->layout().sections) {
    if (section.bit != kFeatureCompressed) continue;
    const std::string claim = EncodeFields(perf_data::Compression{.level = 22, .mmap_len = 65536});
    std::ranges::copy(BytesOfText(claim),
                      bytes.begin() + static_cast<ptrdiff_t>(section.place.offset));
  }
  WriteFile(path, bytes);
  EXPECT_EQ(ReadCompression(FeaturesOf(path))->level, 22u);
  EXPECT_EQ(ReadCompression(FeaturesOf(Rewritten(path, "cut.data", Cut(0, 10))))->level, 19u);
}

TEST(Rewrite, CutsByTimeAndKeepsWhatNamesNeed) {
  const std::string path = TestPath("cut_me.data");
  auto writer = *Writer::Create(path, {{UsualAttr(), "a", {1}}}, 0);
  RecordBuilder records(UsualAttr());
  records.Id(1).At(10).Comm("before").At(20).Sample(0x1).Lost(3).At(30).Sample(0x2);
  records.At(40).Sample(0x3).At(45).Comm("after").At(50).Sample(0x4);
  ASSERT_TRUE(AppendAll(*writer, records).ok());
  Features features = UsualFeatures();
  features.sample_time = SampleTime{20, 50};
  ASSERT_TRUE(writer->Finish(features).ok());

  const std::string cut = Rewritten(path, "cut.data", Cut(25, 40));
  EXPECT_EQ(ToldFile(cut, Order::kTime), "10 COMM, 30 SAMPLE, 40 SAMPLE");
  EXPECT_EQ(FeaturesOf(cut).sample_time, (SampleTime{30, 40}));
  const std::string stream = Rewritten(path, "cut_stream.data", AsStream());
  RewriteOptions half = AsStream();
  half.time = TimeRange{0, UINT64_MAX, 0, 50};  // the first 50 % of the samples' time: 20 to 35
  const std::string cut_stream = Rewritten(stream, "cut.pipe", half);
  EXPECT_THAT(ToldFile(cut_stream, Order::kTime), HasSubstr("10 COMM, 20 SAMPLE, 20 LOST, 30 SA"));
  EXPECT_EQ(FeaturesOf(cut_stream).sample_time, (SampleTime{20, 30}));
  EXPECT_EQ(FeaturesOf(Rewritten(path, "none.data", Cut(1, 2))).sample_time, std::nullopt);
}

TEST(Rewrite, ReportsProgressInEachPass) {
  const std::string path = TestPath("long.data");
  auto writer = *Writer::Create(path, {{UsualAttr(), "a", {1}}}, 0);
  RecordBuilder records(UsualAttr());
  records.Id(1);
  for (int i = 1; i <= 5000; ++i) records.At(i).Sample(0x1);
  ASSERT_TRUE(AppendAll(*writer, records).ok());
  ASSERT_TRUE(writer->Finish(UsualFeatures()).ok());
  std::vector<uint64_t> done;
  RewriteOptions options = Cut(1, 5000);
  options.on_progress = [&](uint64_t at, uint64_t all) {
    done.push_back(at);
    EXPECT_LT(at, all);
    EXPECT_GT(at, all / 2);
  };
  Rewritten(path, "long_copy.data", options);
  // The first pass finds the times of the samples.
  EXPECT_EQ(done.size(), 2);
}

TEST(Rewrite, CutsByProcessOrThread) {
  const std::string path = StrangeRecording();
  RewriteOptions by_pid, by_tid, by_neither;
  by_pid.pids = {9};
  by_tid.tids = {8};
  by_neither.pids = {8};
  EXPECT_THAT(ToldFile(Rewritten(path, "pid.data", by_pid), Order::kFile),
              HasSubstr("5 COMM, 7 SAMPLE/1, "));
  EXPECT_THAT(ToldFile(Rewritten(path, "tid.data", by_tid), Order::kFile),
              HasSubstr("5 COMM, 6 SAMPLE, type 60"));
  EXPECT_THAT(ToldFile(Rewritten(path, "neither.data", by_neither), Order::kFile),
              HasSubstr("5 COMM, type 60"));
}

TEST(Rewrite, OfACutFileIsWhole) {
  const std::string path = TestPath("whole.data");
  WriteUsualRecording(path);
  std::vector<std::byte> bytes = ReadFile(path);
  bytes.resize(bytes.size() * 2 / 3);
  const std::string cut = TestPath("cut_file.data");
  WriteFile(cut, bytes);
  const auto summary = Rewrite(cut, TestPath("mended.data"), {});
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->warnings.size(), 1u);
  const std::string told = ToldFile(TestPath("mended.data"), Order::kTime);
  EXPECT_THAT(told, testing::Not(HasSubstr("#")));
  EXPECT_THAT(ToldFile(cut, Order::kTime), testing::StartsWith(told));
}

TEST(Rewrite, IndexesTracesWhereTheyAre) {
  const std::string path = TestPath("traces.data");
  auto writer = *Writer::Create(path, {{UsualAttr(), "a", {1}}}, 0);
  std::vector<std::byte> trace;
  AddRecord(perf_event::kRecordAuxtrace, std::string("\x10\0\0\0\0\0\0\0", 8) + std::string(32, 0),
            &trace);
  const size_t record_size = trace.size();
  trace.resize(trace.size() + 16, std::byte{0x55});
  const std::span<const std::byte> piece = trace;
  RecordBuilder records(UsualAttr());
  records.At(10).Sample(0x1);
  ASSERT_TRUE(AppendAll(*writer, records).ok());
  ASSERT_TRUE(writer->Append({&piece, 1}).ok());
  ASSERT_TRUE(writer->Finish(UsualFeatures()).ok());
  const std::string copy = Rewritten(path, "traces_cut.data", Cut(11, 12));
  const Features features = FeaturesOf(copy);
  const std::string& index = features.other.at(kFeatureAuxtrace);
  uint64_t entry[3];
  ASSERT_EQ(index.size(), sizeof(entry));
  std::memcpy(entry, index.data(), sizeof(entry));
  EXPECT_EQ(entry[0], 1u);
  EXPECT_EQ(entry[2], record_size);
  const std::vector<std::byte> bytes = ReadFile(copy);
  const auto at = bytes.begin() + static_cast<ptrdiff_t>(entry[1]);
  EXPECT_TRUE(std::equal(trace.begin(), trace.end(), at));
}

TEST(Rewrite, PutsInSectionsAndReplacesThem) {
  const std::string usual = TestPath("usual.data");
  WriteUsualRecording(usual);
  const auto with = [](std::string_view text, bool as_stream) {
    return RewriteOptions{.as_stream = as_stream, .sections = {{kFeatureNames, std::string(text)}}};
  };
  Features expected = FeaturesOf(usual);
  expected.other[kFeatureNames] = "two";
  const std::string file = Rewritten(usual, "file.data", with("one", false));
  EXPECT_EQ(FeaturesOf(Rewritten(file, "file2.data", with("two", false))), expected);
  const std::string stream = Rewritten(file, "stream.data", AsStream());
  const Features of_stream = FeaturesOf(Rewritten(stream, "stream2.data", with("two", true)));
  EXPECT_EQ(of_stream.other.at(kFeatureNames), "two");
  EXPECT_EQ(FeaturesOf(Rewritten(stream, "file3.data", with("two", false))).other, expected.other);
}

TEST(Rewrite, AFileWithoutEventsIsCopiedWhereverItsEntriesWouldBe) {
  for (const uint64_t offset : {uint64_t{0}, uint64_t{104}, UINT64_MAX - 50, UINT64_MAX}) {
    const std::vector<std::byte> file = FileWithoutEvents(80, offset);
    WriteFile(TestPath("eventless.data"), file);
    EXPECT_TRUE(ReadFile(Rewritten(TestPath("eventless.data"), "copy.data", {})) == file) << offset;
  }
}

TEST(Rewrite, MayReplaceItsInput) {
  const std::string path = TestPath("in_place.data");
  WriteUsualRecording(path);
  const std::vector<std::byte> before = ReadFile(path);
  Rewritten(path, "in_place.data", {});
  EXPECT_TRUE(ReadFile(path) == before);
  EXPECT_TRUE(ReadFile(path + ".old") == before);
}

// Rewrites a file in place and raises the signal `ending` when `size` bytes are written: exceeding
// the limit on a file's size raises SIGXFSZ in the middle of write(2).
[[noreturn]] void RewriteUntil(const std::string& path, size_t size, int ending) {
  static int g_ending = 0;
  g_ending = ending;
  signal(SIGXFSZ, [](int) { raise(g_ending); });
  rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = size;
  setrlimit(RLIMIT_FSIZE, &limit);
  (void)Rewrite(path, path, {});
  _exit(0);
}

TEST(Rewrite, StoppedByASignalLeavesItsInputAsItWas) {
  const std::string path = TestPath("stopped.data");
  WriteUsualRecording(path);
  const std::vector<std::byte> before = ReadFile(path);
  for (const int ending : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EXIT(RewriteUntil(path, before.size() / 2, ending), testing::KilledBySignal(ending), "");
    EXPECT_TRUE(ReadFile(path) == before);
    EXPECT_FALSE(std::filesystem::exists(path + ".old"));
  }
}

TEST(Rewrite, SaysWhyItCannot) {
  EXPECT_TRUE(absl::IsNotFound(Rewrite("/no/such", TestPath("x"), {}).status()));
  WriteFile(TestPath("text"), BytesOfText("certainly not a recording"));
  EXPECT_TRUE(absl::IsDataLoss(Rewrite(TestPath("text"), TestPath("x"), {}).status()));
  const std::string path = TestPath("timeless.data");
  auto writer =
      *Writer::Create(path, {{perf_event::SampleAttr(perf_event::kSampleIp), "cpu-clock", {}}}, 0);
  ASSERT_TRUE(writer->Finish({}).ok());
  EXPECT_EQ(Rewrite(path, TestPath("x"), Cut(1, 2)).status().message(),
            "samples of cpu-clock have no time to cut them by");
}

}  // namespace
}  // namespace profiler::perf_data
