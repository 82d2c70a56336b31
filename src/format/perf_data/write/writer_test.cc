#include "src/format/perf_data/write/writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ringbuf/testing/counted_new.h"
#include "src/format/perf_data/format/file_header.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_data/testing/recording_builder.h"

namespace profiler::perf_data {
namespace {

using perf_event::RecordBuilder;
using testing::HasSubstr;
using Order = Recording::Order;

// Reads `from` and writes all of its records to `to`.
absl::Status Copy(const std::string& from, const std::string& to, size_t id_capacity) {
  PROFILER_ASSIGN_OR_RETURN(std::unique_ptr<Recording> recording, Recording::Open(from));
  std::vector<EventToWrite> events;
  for (const EventDescription& event : recording->events()) {
    events.push_back({event.attr, event.name, event.ids});
  }
  PROFILER_ASSIGN_OR_RETURN(std::unique_ptr<Writer> writer,
                            Writer::Create(to, events, id_capacity));
  absl::Status status;
  PROFILER_RETURN_IF_ERROR(recording->ForEach(Order::kFile, [&](const TimedRecord& record) {
    if (record.record.type() == perf_event::kRecordFinishedRound) {
      status.Update(writer->FinishRound());
      return;
    }
    const std::span<const std::byte> piece = record.record.bytes();
    status.Update(writer->Append({&piece, 1}));
  }));
  PROFILER_RETURN_IF_ERROR(status);
  return writer->Finish(recording->features());
}

TEST(Writer, CopyOfAFileOfOursHasTheSameBytes) {
  const std::string path = TestPath("original.data");
  const std::string copy = TestPath("copy.data");
  WriteUsualRecording(path);
  const absl::Status status = Copy(path, copy, 4);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(ReadFile(path) == ReadFile(copy));
}

TEST(Writer, LeavesAFileAloneThatIsBeingWritten) {
  const std::string path = TestPath("written.data");
  std::remove(path.c_str());
  std::remove((path + ".old").c_str());
  const auto second = [&] { return Writer::Create(path, {{UsualAttr(), "a", {}}}, 0).status(); };
  {
    const auto first = Writer::Create(path, {{UsualAttr(), "a", {}}}, 0);
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_EQ(second().message(), "cannot write to " + path + ": another process records into " +
                                      path +
                                      " now; wait for its end, or name another file with -o");
    ASSERT_EQ(std::rename(path.c_str(), (path + ".old").c_str()), 0);
    WriteFile(path, std::vector<std::byte>(3, std::byte{'x'}));
    EXPECT_TRUE(absl::IsFailedPrecondition(second())) << "the old file is";
    std::remove(path.c_str());
    ASSERT_EQ(std::rename((path + ".old").c_str(), path.c_str()), 0);
  }
  EXPECT_TRUE(second().ok());
}

TEST(Writer, KeepsAnOldFile) {
  const std::string path = TestPath("kept.data");
  std::remove((path + ".old").c_str());
  WriteFile(path, std::vector<std::byte>(3, std::byte{'x'}));
  ASSERT_TRUE(Writer::Create(path, {{UsualAttr(), "a", {}}}, 0).ok());
  EXPECT_EQ(ReadFile(path + ".old").size(), 3u);
}

TEST(Writer, SaysWhyItCannotCreateTheFile) {
  const auto writer = Writer::Create(TestPath("no/such/directory"), {{UsualAttr(), "a", {}}}, 0);
  EXPECT_TRUE(absl::IsNotFound(writer.status()));
  EXPECT_THAT(
      std::string(writer.status().message()),
      testing::MatchesRegex("cannot create .*/no/such/directory: No such file or directory"));
  EXPECT_TRUE(absl::IsInvalidArgument(Writer::Create(TestPath("x"), {}, 0).status()));
}

TEST(Writer, WritesToADeviceAndLeavesItThere) {
  auto writer = Writer::Create("/dev/null", {{UsualAttr(), "a", {}}}, 0);
  ASSERT_TRUE(writer.ok()) << writer.status();
  RecordBuilder records(UsualAttr());
  EXPECT_TRUE(AppendAll(**writer, records.At(1).Sample(1)).ok());
  EXPECT_TRUE((*writer)->Finish({}).ok());
}

TEST(Writer, HasTheIdsThatCameLater) {
  const std::string path = TestPath("ids.data");
  const perf_event::Attr attr = UsualAttr();
  auto writer = Writer::Create(path, {{attr, "a", {1}}, {attr, "b", {2}}}, 2);
  const auto ids = [&path](size_t event) { return (*Recording::Open(path))->events()[event].ids; };
  EXPECT_EQ(ids(0), (std::vector<uint64_t>{1}));
  const uint64_t more[] = {11, 12, 13};
  ASSERT_TRUE((*writer)->AddIds(0, std::span(more).first(1)).ok());
  EXPECT_EQ(ids(0), (std::vector<uint64_t>{1, 11}));
  EXPECT_EQ(ids(1), (std::vector<uint64_t>{2}));
  // There are more ids than room; Finish writes the ids that do not fit.
  ASSERT_TRUE((*writer)->AddIds(0, std::span(more).subspan(1)).ok());
  EXPECT_EQ(ids(0), (std::vector<uint64_t>{1, 11, 12}));
  ASSERT_TRUE((*writer)->Finish({}).ok());
  EXPECT_EQ(ids(0), (std::vector<uint64_t>{1, 11, 12, 13}));
  EXPECT_EQ(ids(1), (std::vector<uint64_t>{2}));
  EXPECT_TRUE(absl::IsInvalidArgument((*writer)->AddIds(2, more)));
}

TEST(Writer, ChoosesTheSmallestAttrSize) {
  const std::string path = TestPath("attr_size.data");
  perf_event::Attr attr = UsualAttr();
  attr.size = sizeof(attr);
  ASSERT_TRUE((*Writer::Create(path, {{attr, "a", {}}}, 0))->Finish({}).ok());
  EXPECT_EQ((*Recording::Open(path))->events()[0].attr.size, SmallestSize(attr));
}

TEST(Writer, WritesNoEmptyRounds) {
  const std::string path = TestPath("rounds.data");
  auto writer = Writer::Create(path, {{UsualAttr(), "a", {}}}, 0);
  const uint64_t before = (*writer)->bytes_written();
  ASSERT_TRUE((*writer)->FinishRound().ok());
  ASSERT_TRUE((*writer)->FinishRound().ok());
  EXPECT_EQ((*writer)->bytes_written(), before);
}

TEST(Writer, AppendsManyPiecesAndAllocatesNothing) {
  const std::string path = TestPath("pieces.data");
  auto writer = Writer::Create(path, {{UsualAttr(), "a", {}}}, 0);
  RecordBuilder records(UsualAttr());
  std::string expected;
  for (uint64_t time = 1; time <= 200; ++time) {
    records.At(time).Sample(time);
    expected += (time == 1 ? "" : ", ") + std::to_string(time) + " SAMPLE";
  }
  std::vector<std::span<const std::byte>> pieces;
  for (std::span<const std::byte> left = records.bytes(); !left.empty();) {
    const size_t size = std::min<size_t>(11, left.size());
    pieces.push_back(left.first(size));
    pieces.push_back({});
    left = left.subspan(size);
  }
  const uint64_t before = ringbuf::NewCalls();
  const bool ok = (*writer)->Append(pieces).ok() && (*writer)->FinishRound().ok();
  EXPECT_EQ(ringbuf::NewCalls(), before);
  ASSERT_TRUE(ok);
  EXPECT_EQ(ToldFile(path, Order::kTime), expected);
}

// Calls `write` while files may have at most `bytes` bytes. A limit on the file size acts like a
// full disk: it also cuts a write in its middle.
absl::Status OnADiskOf(uint64_t bytes, const std::function<absl::Status()>& write) {
  rlimit old{};
  EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  signal(SIGXFSZ, SIG_IGN);
  rlimit limit = old;
  limit.rlim_cur = bytes;
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  absl::Status status = write();
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  return status;
}

TEST(Writer, OnAFullDiskKeepsWhatWasWrittenAndGoesOnWhenThereIsSpace) {
  const std::string path = TestPath("full.data");
  auto writer = Writer::Create(path, {{UsualAttr(), "a", {}}}, 0);
  RecordBuilder records(UsualAttr());
  ASSERT_TRUE(AppendAll(**writer, records.At(1).Sample(1)).ok());
  ASSERT_TRUE((*writer)->FinishRound().ok());

  const absl::Status status = OnADiskOf((*writer)->bytes_written() + 20, [&] {
    return AppendAll(**writer, records.At(2).Sample(2));
  });

  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot write"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("File too large"));
  EXPECT_EQ(ToldFile(path, Order::kTime), "1 SAMPLE");
  ASSERT_TRUE(AppendAll(**writer, records.At(3).Sample(3)).ok());
  ASSERT_TRUE((*writer)->Finish(UsualFeatures()).ok());
  EXPECT_EQ(ToldFile(path, Order::kTime), "1 SAMPLE, 3 SAMPLE");
  EXPECT_EQ((*Recording::Open(path))->features(), UsualFeatures());
}

TEST(Writer, KilledBeforeItSaysThatThereAreFeaturesLeavesAnEmptyRecording) {
  const std::string path = TestPath("empty.data");
  auto writer = Writer::Create(path, {{UsualAttr(), "a", {}}}, 0);
  ASSERT_TRUE((*writer)->Finish(UsualFeatures()).ok());
  std::vector<std::byte> file = ReadFile(path);
  std::fill_n(file.begin() + kFeatureBitsOffset, kFileHeaderSize - kFeatureBitsOffset,
              std::byte{0});
  WriteFile(path, file);
  EXPECT_EQ(ToldFile(path, Order::kTime), "");
}

TEST(Writer, ThatCannotBeginLeavesTheOldFileHoweverOftenItIsTried) {
  const std::string path = TestPath("begun.data");
  std::remove((path + ".old").c_str());
  WriteFile(path, std::vector<std::byte>(3, std::byte{'x'}));
  RecordBuilder records(UsualAttr());
  records.At(1).Sample(1);
  const auto create = [&] {
    return Writer::Create(path, {{UsualAttr(), "a", {}}}, {.start = records.bytes()}).status();
  };
  uint64_t bytes = 1;
  for (; !OnADiskOf(bytes, create).ok(); ++bytes) {
    EXPECT_EQ(ReadFile(path).size(), 3u) << bytes;
    EXPECT_NE(access((path + ".old").c_str(), F_OK), 0) << bytes;
  }
  EXPECT_EQ(ReadFile(path).size(), bytes);
  EXPECT_EQ(ToldFile(path, Order::kTime), "1 SAMPLE");
  EXPECT_EQ(ReadFile(path + ".old").size(), 3u);
}

// --- a section that is appended after Finish -----------------------------------------------------

Features FeaturesOf(const std::string& path) {
  const auto recording = Recording::Open(path);
  EXPECT_TRUE(recording.ok()) << recording.status();
  return recording.ok() ? (*recording)->features() : Features();
}

TEST(Writer, AppendsASectionToWhatIsThere) {
  const std::string path = TestPath("appended.data");
  const auto writer = WriteUsualRecording(path);
  Features expected = FeaturesOf(path);
  const std::string told = ToldFile(path, Order::kTime);
  for (const int bit : {kFeatureNames, kFeatureSums}) {
    expected.other[bit] = "who is who";
    ASSERT_TRUE(writer->AppendSection(bit, "who is who").ok());
    EXPECT_EQ(FeaturesOf(path), expected);
  }
  EXPECT_EQ(ToldFile(path, Order::kTime), told);
}

// After each of the three writes, the recording is the old one or the new one.
TEST(Writer, AppendsASectionWholeOrNotAtAll) {
  const std::string path = TestPath("appended.data");
  const auto writer = WriteUsualRecording(path);
  const std::vector<std::byte> before = ReadFile(path);
  const Features without = FeaturesOf(path);
  ASSERT_TRUE(writer->AppendSection(kFeatureNames, "who is who").ok());
  const std::vector<std::byte> after = ReadFile(path);
  const std::string killed = TestPath("killed.data");

  std::vector<std::byte> half = before;
  half.insert(half.end(), after.begin() + static_cast<ptrdiff_t>(before.size()), after.end() - 3);
  WriteFile(killed, half);
  EXPECT_EQ(FeaturesOf(killed), without) << "within the section";

  half = after;
  std::copy(before.begin(), before.begin() + kFileHeaderSize, half.begin());
  WriteFile(killed, half);
  EXPECT_EQ(FeaturesOf(killed), without) << "before the header";
}

TEST(Writer, AppendsNoSectionThatWouldStandAmongOthers) {
  const std::string path = TestPath("appended.data");
  const auto writer = WriteUsualRecording(path);
  ASSERT_TRUE(writer->AppendSection(kFeatureSums, "sums").ok());
  const std::vector<std::byte> before = ReadFile(path);
  EXPECT_EQ(writer->AppendSection(kFeatureNames, "who is who").code(), absl::StatusCode::kInternal);
  EXPECT_EQ(writer->AppendSection(kFeatureSums, "sums").code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(ReadFile(path) == before);
}

TEST(Writer, OnAFullDiskAppendsNothing) {
  const std::string path = TestPath("appended.data");
  const auto writer = WriteUsualRecording(path);
  const std::vector<std::byte> before = ReadFile(path);
  const auto append = [&] { return writer->AppendSection(kFeatureNames, "who is who"); };
  EXPECT_FALSE(OnADiskOf(before.size() + 5, append).ok());
  EXPECT_TRUE(ReadFile(path) == before);
}

// --- streams and compression -------------------------------------------------------------------

// Writes two events, two rounds, and late ids through Writer::Create(path).
void WriteTwoEvents(const std::string& path, int level) {
  const perf_event::Attr attr = UsualAttr();
  auto writer = Writer::Create(path, {{attr, "a", {1}}, {attr, "b", {2}}}, WriterOptions{2, level});
  ASSERT_TRUE(writer.ok()) << writer.status();
  RecordBuilder records(attr);
  ASSERT_TRUE(AppendAll(**writer, records.Comm("cat").At(5).Id(1).Sample(1)).ok());
  ASSERT_TRUE((*writer)->FinishRound().ok());
  ASSERT_TRUE(AppendAll(**writer, records.At(7).Id(2).Sample(1).At(6).Sample(1)).ok());
  ASSERT_TRUE((*writer)->FinishRound().ok());
  Features features = UsualFeatures();
  features.build_ids = {{7, 2, std::vector<std::byte>(16, std::byte{5}), "/bin/cat"}};
  ASSERT_TRUE((*writer)->Finish(features).ok());
}

mode_t ModeOf(const std::string& path) {
  struct stat status;
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

TEST(Writer, IsForItsOwnerAloneWhereAnEmptyFileWas) {
  const std::string path = TestPath("empty_before.data");
  unlink((path + ".old").c_str());
  WriteFile(path, {});
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  // A process that had the old file open can still read it.
  const UniqueFd reader(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  WriteTwoEvents(path, 0);
  EXPECT_EQ(ModeOf(path), 0600u);
  char byte;
  EXPECT_EQ(read(reader.get(), &byte, 1), 0);
  EXPECT_NE(access((path + ".old").c_str(), F_OK), 0);
}

TEST(Writer, IsForItsOwnerAloneWhereTheEmptyFileCannotBeRemoved) {
  if (geteuid() == 0) GTEST_SKIP() << "root removes files everywhere";
  const std::string directory = TestPath("fixed");
  mkdir(directory.c_str(), 0700);
  const std::string path = directory + "/empty.data";
  WriteFile(path, {});
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  ASSERT_EQ(chmod(directory.c_str(), 0500), 0);
  WriteTwoEvents(path, 0);
  ASSERT_EQ(chmod(directory.c_str(), 0700), 0);
  EXPECT_EQ(ModeOf(path), 0600u);
}

TEST(Writer, FollowsALinkToAFileThatIsEmptyOrNotThere) {
  const std::string path = TestPath("link.data"), target = TestPath("linked.data");
  unlink(path.c_str());
  ASSERT_EQ(symlink(target.c_str(), path.c_str()), 0);
  for (const bool is_there : {false, true}) {
    unlink(target.c_str());
    if (is_there) WriteFile(target, {});
    WriteTwoEvents(path, 0);
    struct stat status;
    ASSERT_EQ(lstat(path.c_str(), &status), 0);
    EXPECT_TRUE(S_ISLNK(status.st_mode));
    EXPECT_EQ(ModeOf(target), 0600u);
    EXPECT_TRUE(Recording::Open(target).ok());
  }
}

constexpr char kTwoEventsInTime[] = "COMM, 5 SAMPLE, 6 SAMPLE/1, 7 SAMPLE/1";

TEST(Writer, CompressesAtEveryLevel) {
  const std::string path = TestPath("compressed.data");
  for (int level : {1, 3, 19, 22}) {
    WriteTwoEvents(path, level);
    EXPECT_EQ(ToldFile(path, Order::kTime), std::string("FEATURE, ") + kTwoEventsInTime) << level;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(
      Writer::Create(path, {{UsualAttr(), "a", {}}}, WriterOptions{0, 23}).status()));
}

TEST(Writer, CompressedRecordsAreSmaller) {
  const std::string path = TestPath("compressed_size.data");
  auto writer = Writer::Create(path, {{UsualAttr(), "a", {}}}, WriterOptions{0, 1});
  RecordBuilder records(UsualAttr());
  std::string expected = "FEATURE";  // the feature COMPRESSED
  for (uint64_t time = 1; time <= 2000; ++time) {
    records.At(time).Sample(time);
    expected += ", " + std::to_string(time) + " SAMPLE";
  }
  const size_t plain = records.bytes().size();
  ASSERT_TRUE(AppendAll(**writer, records).ok());
  ASSERT_TRUE((*writer)->Finish({}).ok());
  EXPECT_LT((*writer)->bytes_written(), plain / 5);
  EXPECT_EQ(ToldFile(path, Order::kTime), expected);
}

// Returns the bytes that `write` writes to its FIFO.
std::vector<std::byte> Piped(const std::function<void(const std::string&)>& write) {
  const std::string path = TestPath("fifo");
  unlink(path.c_str());
  EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::vector<std::byte> bytes;
  std::thread reader([&] { bytes = ReadFile(path); });
  write(path);
  reader.join();
  return bytes;
}

TEST(Writer, WritesAStreamToAPipe) {
  for (int level : {0, 3}) {
    const std::string path = TestPath("piped.data");
    WriteFile(path, Piped([level](const std::string& fifo) { WriteTwoEvents(fifo, level); }));
    const std::string told = ToldFile(path, Order::kTime);
    // The sorter still holds the last round when the features come.
    EXPECT_THAT(told, testing::StartsWith("ATTR, UPDATE, ATTR, UPDATE, "));
    EXPECT_THAT(told, HasSubstr("COMM, 5 SAMPLE, "));
    EXPECT_THAT(told, testing::EndsWith("FEATURE, type 65, 6 SAMPLE/1, 7 SAMPLE/1"));
    auto recording = Recording::Open(path);
    EXPECT_TRUE((*recording)->ForEach(Order::kTime, [](const TimedRecord&) {}).ok());
    EXPECT_EQ((*recording)->events()[1].name, "b");
    EXPECT_EQ((*recording)->features().cmdline, UsualFeatures().cmdline);
    EXPECT_EQ((*recording)->features().build_ids.at(0).filename, "/bin/cat");
    EXPECT_EQ((*recording)->features().build_ids.at(0).build_id.size(), 16u);
    // perf would refuse the stream if our section were a HEADER_FEATURE record.
    EXPECT_EQ((*recording)->features().other.at(200), UsualFeatures().other.at(200));
  }
}

TEST(Writer, AppendsASectionToAStream) {
  for (int level : {0, 3}) {
    const std::string section(200'000, 'x');  // does not fit one record
    const std::string path = TestPath("piped_section.data");
    WriteFile(path, Piped([&](const std::string& fifo) {
                auto writer =
                    Writer::Create(fifo, {{UsualAttr(), "a", {}}}, {.compression_level = level});
                RecordBuilder records(UsualAttr());
                ASSERT_TRUE(AppendAll(**writer, records.At(5).Sample(1)).ok());
                ASSERT_TRUE((*writer)->Finish(UsualFeatures()).ok());
                ASSERT_TRUE((*writer)->AppendSection(kFeatureNames, section).ok());
              }));
    // Features are known before the samples are visited, as in other files.
    EXPECT_EQ(FeaturesOf(path).cmdline, UsualFeatures().cmdline);
    EXPECT_TRUE(FeaturesOf(path).other.at(kFeatureNames) == section);
  }
}

TEST(Writer, TellsAListenerWhatItWritesToAStream) {
  std::vector<std::byte> told;
  const std::vector<std::byte> written = Piped([&](const std::string& fifo) {
    WriteUsualRecording(fifo, [&](std::span<const std::span<const std::byte>> pieces) {
      for (const auto piece : pieces) told.insert(told.end(), piece.begin(), piece.end());
    });
  });
  EXPECT_FALSE(told.empty());
  EXPECT_TRUE(told == written);
}

TEST(Writer, NamesLateIdsInAStreamOfSeveralEvents) {
  const std::string path = TestPath("piped_ids.data");
  WriteFile(path, Piped([](const std::string& fifo) {
              const perf_event::Attr attr = UsualAttr();
              auto writer = Writer::Create(fifo, {{attr, "a", {1}}, {attr, "b", {2}}}, 0);
              const uint64_t late[] = {3};
              ASSERT_TRUE((*writer)->AddIds(1, late).ok());
              RecordBuilder records(attr);
              ASSERT_TRUE(AppendAll(**writer, records.At(5).Id(3).Sample(1)).ok());
            }));
  EXPECT_EQ(ToldFile(path, Order::kTime), "ATTR, UPDATE, ATTR, UPDATE, ATTR, UPDATE, 5 SAMPLE/2");
  EXPECT_EQ((*Recording::Open(path))->events().at(2).name, "b");
}

std::string OutputOf(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen((command + " 2>&1").c_str(), "r"), pclose);
  std::string output;
  char buffer[4096];
  while (const size_t count = fread(buffer, 1, sizeof(buffer), pipe.get())) {
    output.append(buffer, count);
  }
  return output;
}

class WrittenForPerf : public testing::Test {
 protected:
  void SetUp() override {
    if (access("/usr/bin/perf", X_OK) != 0) GTEST_SKIP() << "perf is not installed";
    WriteUsualRecording(path_);
  }

  const std::string path_ = TestPath("for_perf.data");
};

TEST_F(WrittenForPerf, ItsSamplesAreRead) {
  EXPECT_EQ(
      OutputOf("/usr/bin/perf script --no-inline --ns -F pid,tid,cpu,time,period,event,ip -i " +
               path_ + " | head -4 | tr -s ' '"),
      " 7/7 [001] 0.000000110: 1000 cpu-clock: \n"
      "\t 1adb0\n"
      "\t 1234\n"
      "\n");
  EXPECT_THAT(OutputOf("/usr/bin/perf report --stats -i " + path_),
              HasSubstr("SAMPLE events:          9"));
}

TEST_F(WrittenForPerf, ItsHeaderIsRead) {
  const std::string header = OutputOf("/usr/bin/perf report --header-only -i " + path_);
  for (const char* line :
       {"# hostname : testhost", "# os release : 6.1.0-test", "# perf version : 1.0",
        "# arch : x86_64", "# nrcpus online : 2", "# nrcpus avail : 2", "# cpudesc : Test CPU",
        "# cpuid : GenuineIntel,6,85,7", "# total memory : 4000000 kB",
        "# cmdline : profiler record -g", "# event : name = cpu-clock",
        "# time of first sample : 0.000000", "# clockid: monotonic (1)"}) {
    EXPECT_THAT(header, HasSubstr(line));
  }
}

TEST_F(WrittenForPerf, ItIsReadBeforeItIsEnded) {
  const std::string path = TestPath("open_for_perf.data");
  auto writer = Writer::Create(path, {{UsualAttr(), "a", {1}}}, 100);
  RecordBuilder records(UsualAttr());
  ASSERT_TRUE(AppendAll(**writer, records.At(1).Id(1).Sample(1).At(2).Sample(2)).ok());
  ASSERT_TRUE((*writer)->FinishRound().ok());
  ASSERT_TRUE(AppendAll(**writer, records.At(3).Sample(3)).ok());
  EXPECT_THAT(OutputOf("/usr/bin/perf report --stats -i " + path),
              HasSubstr("SAMPLE events:          2"));
}

TEST_F(WrittenForPerf, CompressedItIsRead) {
  const std::string path = TestPath("compressed_for_perf.data");
  WriteTwoEvents(path, 3);
  EXPECT_THAT(OutputOf("/usr/bin/perf report --stats -i " + path),
              HasSubstr("SAMPLE events:          3"));
}

TEST_F(WrittenForPerf, PipedItIsRead) {
  for (int level : {0, 3}) {
    const std::string path = TestPath("piped_for_perf.data");
    WriteFile(path, Piped([level](const std::string& fifo) { WriteTwoEvents(fifo, level); }));
    // Use `perf script`, because `perf report --stats` ignores the feature that inflating needs.
    EXPECT_EQ(OutputOf("cat " + path + " | /usr/bin/perf script -F event,period -i -"),
              "         1 a: \n\n         1 b: \n\n         1 b: \n\n");
  }
}

}  // namespace
}  // namespace profiler::perf_data
