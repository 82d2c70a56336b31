#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/profile/naming/collect_names.h"
#include "src/profile/naming/load_profile.h"
#include "src/profile/testing/profile_text.h"
#include "symbolize/names/names_codec.h"

namespace profiler::naming {
namespace {

using perf_data::ReadFile;
using perf_data::TestPath;
using perf_data::WriteFile;
using testing::HasSubstr;

constexpr char kProgram[] = "/nowhere/program";
const std::vector<std::byte> kBuildId(20, std::byte{7});

bool GoOn(std::string_view, size_t, size_t) { return true; }

NamingOptions FromRecording() {
  NamingOptions options;
  options.places.no_cache = true;
  options.fetch.off = true;
  return options;
}

// Writes a recording of two samples in a program whose build-id is only in the features.
std::unique_ptr<perf_data::Writer> Recorded(const std::string& path, int compression_level,
                                            perf_data::StreamListener listener) {
  const perf_event::Attr attr = perf_data::UsualAttr();
  auto writer = *perf_data::Writer::Create(
      path, {{attr, "cpu-clock", {}}},
      {.compression_level = compression_level, .on_stream = std::move(listener)});
  perf_event::RecordBuilder records(attr);
  records.At(1).By(7, 7).Comm("program").Mmap2(0x1000, 0x2000, 0, kProgram);
  records.At(3).Sample(0x1034, {perf_event::kContextUser, 0x1034, 0x1100});
  records.At(2).Sample(0x1056, {perf_event::kContextUser, 0x1056, 0x1100});
  EXPECT_TRUE(perf_data::AppendAll(*writer, records).ok());
  EXPECT_TRUE(writer->FinishRound().ok());
  perf_data::Features features;
  features.build_ids = {{7, 2, kBuildId, kProgram}};
  EXPECT_TRUE(writer->Finish(features).ok());
  return writer;
}

// Returns the bytes of the stream, with these sections at its end. `names` receives the stream as
// well.
std::vector<std::byte> StreamOf(const std::map<int, std::string>& sections,
                                StreamNames* names = nullptr, int compression_level = 0) {
  const std::string fifo = TestPath("fifo");
  unlink(fifo.c_str());
  EXPECT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::vector<std::byte> bytes;
  std::thread reader([&] { bytes = ReadFile(fifo); });
  {
    const auto writer = Recorded(fifo, compression_level, [names](auto pieces) {
      if (names != nullptr) names->Take(pieces);
    });
    for (const auto& [bit, section] : sections) {
      EXPECT_TRUE(writer->AppendSection(bit, section).ok());
    }
  }
  reader.join();
  return bytes;
}

// Returns the section NAMES, with two functions of the program.
std::string Names() {
  symbolize::NameFacts facts;
  symbolize::NameFacts::Image& image = facts.images.emplace_back();
  image.path = facts.strings.Intern(kProgram);
  image.build_id = kBuildId;
  image.symbols = {{facts.strings.Intern("Leaf"), 0x30, 0x60, true},
                   {facts.strings.Intern("Caller"), 0xf0, 0x40, true}};
  image.addresses = {{.at = FileOffset{0x34}, .distance = 4, .symbol = 0},
                     {.at = FileOffset{0x56}, .distance = 0x26, .symbol = 0},
                     {.at = FileOffset{0xff}, .distance = 0xf, .symbol = 1}};
  return symbolize::EncodeNames(facts);
}

std::string RowsOf(const std::string& path) {
  LoadOptions options;
  options.naming = FromRecording();
  const auto loaded = LoadProfile(path, options);
  if (!loaded.ok()) return std::string(loaded.status().message());
  return profile::RowsText(loaded->profile) + std::string(loaded->reading.message());
}

std::string RowsOfPipe(const std::vector<std::byte>& stream) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  std::thread writer([&stream, fd = ends[1]] {
    EXPECT_EQ(write(fd, stream.data(), stream.size()), static_cast<ssize_t>(stream.size()));
    close(fd);
  });
  std::string rows = RowsOf("/proc/self/fd/" + std::to_string(ends[0]));
  close(ends[0]);
  writer.join();
  return rows;
}

TEST(StreamNamesTest, AreThoseOfTheFile) {
  const std::string file = TestPath("file.data");
  Recorded(file, 0, {});
  auto recording = *perf_data::Recording::Open(file);
  const auto of_file = CollectNames(*recording, Embedding::kLines, FromRecording(), GoOn);
  EXPECT_EQ(of_file.addresses, 3);

  for (const int compression_level : {0, 1}) {
    StreamNames names(Embedding::kLines, FromRecording());
    StreamOf({}, &names, compression_level);
    const auto of_stream = std::move(names).Collect(GoOn);
    EXPECT_TRUE(of_stream.reading.ok()) << of_stream.reading;
    EXPECT_EQ(SectionsOf(of_stream), SectionsOf(of_file));
  }
}

TEST(StreamNamesTest, AreNoneWhereNothingWasWritten) {
  StreamNames names(Embedding::kCode, FromRecording());
  EXPECT_EQ(std::move(names).Collect(GoOn).addresses, 0);
}

TEST(StreamNamesTest, BehindTheSamplesNameThem) {
  const std::string expected =
      "program 7/7: Caller;Leaf  1 1\n"
      "program 7/7: Caller;Leaf  1 1\n";
  const std::vector<std::byte> stream = StreamOf({{perf_data::kFeatureNames, Names()}});
  const std::string path = TestPath("stream.data");
  WriteFile(path, stream);
  EXPECT_EQ(RowsOf(path), expected);
  EXPECT_EQ(RowsOfPipe(stream), expected);
}

// A killed recorder leaves a part of the stream; other programs may write anything.
TEST(StreamNamesTest, ThatAreCutOrDamagedLeaveTheSamples) {
  const size_t without = StreamOf({}).size();
  const std::vector<std::byte> stream = StreamOf({{perf_data::kFeatureNames, Names()}});
  const std::string unnamed = RowsOfPipe(StreamOf({}));
  EXPECT_THAT(unnamed, HasSubstr("0x34@program"));
  for (size_t size = without; size < stream.size(); ++size) {
    const std::vector<std::byte> cut(stream.begin(), stream.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_EQ(RowsOfPipe(cut), unnamed) << size;
  }
  const std::string path = TestPath("damaged.data");
  for (size_t at = without; at < stream.size(); ++at) {
    std::vector<std::byte> damaged = stream;
    damaged[at] ^= std::byte{0xff};
    WriteFile(path, damaged);
    EXPECT_THAT(RowsOfPipe(damaged), HasSubstr("program 7/7: ")) << at;
    EXPECT_THAT(RowsOf(path), HasSubstr("program 7/7: ")) << at;
  }
}

}  // namespace
}  // namespace profiler::naming
