// Checks the profiler's output files, and that earlier files are preserved. No recording is made,
// so this runs on every build machine.

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "src/format/perf_data/format/feature_values.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "tests/live/command.h"
#include "tests/output/small_disk.h"

namespace profiler::tests {
namespace {

namespace fs = std::filesystem;
using perf_event::RecordBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string Contents(const std::string& path) {
  return std::string(TextOf(perf_data::ReadFile(path)));
}

std::vector<std::string> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

// The code segment of a program, and `start`, the address of the program's entry.
struct MappedCode {
  uint64_t address = 0, size = 0, offset = 0, start = 0;
};

MappedCode CodeOf(const std::string& program) {
  const std::string bytes = Contents(program);
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, &bytes[header.e_phoff + i * sizeof(segment)], sizeof(segment));
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    return {segment.p_vaddr, segment.p_memsz, segment.p_offset, header.e_entry};
  }
  return {};
}

class OutputTest : public testing::Test {
 protected:
  // Makes `files_` below the working directory of commands. The captured output of a command is
  // written to the working directory, so it is not in `files_`.
  OutputTest()
      : folder_(testing::TempDir() + "/" +
                testing::UnitTest::GetInstance()->current_test_info()->name()),
        files_(folder_ + "/files") {
    fs::remove_all(folder_);
    fs::create_directories(files_);
  }

  std::string File(const std::string& name) const { return files_ + "/" + name; }

  // Writes a recording, and returns its bytes. Each call writes a different recording.
  std::string Recording(const std::string& name) {
    auto writer =
        perf_data::Writer::Create(File(name), {{perf_data::UsualAttr(), "cpu-clock", {1}}}, 0);
    RecordBuilder records(perf_data::UsualAttr());
    records.By(7, 7).Id(1).At(1).Comm("program");
    ++made_;
    for (uint64_t time = 2; time < 30 + made_; ++time) records.At(time).Sample(0x1000);
    EXPECT_TRUE(perf_data::AppendAll(**writer, records).ok());
    EXPECT_TRUE((*writer)->Finish(perf_data::UsualFeatures()).ok());
    return Contents(File(name));
  }

  Finished Profiler(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), Runfile("profiler"));
    return tests::Run(std::move(arguments), folder_);
  }

  // Runs the profiler with a limit of 1 KiB per file. The limit acts like a full disk, also for
  // root.
  Finished LimitedProfiler(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     {"sh", "-c", "ulimit -f 2 && exec \"$@\"", "sh", Runfile("profiler")});
    return tests::Run(std::move(arguments), folder_);
  }

  // Expects that the file has these bytes. Does not print them, because a recording is too long.
  void ExpectContents(const std::string& path, const std::string& bytes) const {
    EXPECT_TRUE(Contents(path) == bytes)
        << path << " has " << Contents(path).size() << " bytes, of " << bytes.size();
  }

  // Expects this exit code and one error line that contains `says`.
  void ExpectRefused(const Finished& finished, int exit_code, const std::string& says) const {
    EXPECT_EQ(finished.signal, 0);
    EXPECT_EQ(finished.exit_code, exit_code);
    EXPECT_THAT(finished.err, HasSubstr(says));
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
  }

  const std::string folder_, files_;
  uint64_t made_ = 0;
};

// ---- groups of events

// Writes a recording of two events with one sample each. The first event leads a group of `members`
// events.
void WriteTwoEvents(const std::string& path, uint32_t members) {
  auto writer = perf_data::Writer::Create(
      path,
      {{perf_data::UsualAttr(), "cpu-clock", {1}}, {perf_data::UsualAttr(), "page-faults", {2}}},
      0);
  RecordBuilder records(perf_data::UsualAttr());
  records.By(7, 7).Period(1).At(2).Id(1).Sample(0x1000).At(3).Id(2).Sample(0x1000);
  EXPECT_TRUE(perf_data::AppendAll(**writer, records).ok());
  perf_data::Features features = perf_data::UsualFeatures();
  if (members != 0) {
    perf_data::SetGroups({{.leader = 0, .members = members}}, &features);
  }
  EXPECT_TRUE((*writer)->Finish(features).ok());
}

TEST_F(OutputTest, ReportShowsTheEventsOfAGroupTogetherUnlessItIsToldNotTo) {
  const auto says = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"report", "-i", File("perf.data")});
    const Finished report = Profiler(options);
    std::string lines;
    for (size_t at = 0; (at = report.out.find("# Samples:", at)) != std::string::npos; ++at) {
      lines += report.out.substr(at, report.out.find('\n', at) + 1 - at);
    }
    return lines + report.err;
  };
  const std::string apart =
      "# Samples: 1  of events 'cpu-clock'\n# Samples: 1  of event 'page-faults'\n";
  for (const uint32_t members : {2, 2000}) {
    WriteTwoEvents(File("perf.data"), members);
    EXPECT_EQ(says({}), "# Samples: 2  of events 'anon group { cpu-clock, page-faults }'\n");
    EXPECT_EQ(says({"--no-group"}), apart);
  }
  WriteTwoEvents(File("perf.data"), 0);
  EXPECT_EQ(says({}), "# Samples: 1  of event 'cpu-clock'\n# Samples: 1  of event 'page-faults'\n");
  EXPECT_EQ(says({"--no-group"}), apart);
  EXPECT_EQ(says({"--group"}), "# Samples: 2  of events 'cpu-clock, page-faults'\n");
}

// ---- rewriting a recording

TEST_F(OutputTest, EventsOfARecordingAreListed) {
  perf_data::Features features;
  perf_data::SetGroups({{.leader = 0, .members = 2}}, &features);
  perf_event::Attr sampled = perf_data::UsualAttr();
  sampled.flags |= perf_event::kAttrFreq;
  sampled.sample_period = 99;
  auto writer = perf_data::Writer::Create(
      File("grouped"),
      {{sampled, "cs:u", {1}}, {sampled, "faults", {2}}, {perf_data::UsualAttr(), "dummy", {3}}},
      0);
  EXPECT_TRUE((*writer)->Finish(features).ok());
  const std::string path = File("grouped");
  EXPECT_EQ(Profiler({"evlist", "-i", path}).out, "cs:u\nfaults\ndummy\n");
  EXPECT_EQ(Profiler({"evlist", "-g", "-i", path}).out, "{cs:u,faults}\ndummy\n");
  EXPECT_THAT(Profiler({"evlist", "-F", "-i", path}).out,
              testing::StartsWith("cs:u: sample_freq=99\n"));
  EXPECT_THAT(Profiler({"evlist", "-v", "-i", path}).out,
              testing::StartsWith("cs:u: type: 1 (PERF_TYPE_SOFTWARE), size: "));
  ExpectRefused(Profiler({"evlist", "-i", File("none")}), 1, "No such file");
}

TEST_F(OutputTest, BuildIdsOfARecordingAreListed) {
  const std::vector<std::byte> id(20, std::byte{0xab});
  perf_data::Features features;
  features.build_ids = {{7, 2, id, "/bin/hit"}, {7, 2, id, "/bin/missed"}};
  auto writer =
      perf_data::Writer::Create(File("images"), {{perf_data::UsualAttr(), "cpu-clock", {1}}}, 0);
  RecordBuilder records(perf_data::UsualAttr());
  records.By(7, 7).Id(1).At(1).Comm("program").Mmap2(0x1000, 0x1000, 0, "/bin/hit");
  records.At(2).Sample(0x1010);
  EXPECT_TRUE(perf_data::AppendAll(**writer, records).ok());
  EXPECT_TRUE((*writer)->Finish(features).ok());
  std::string hex;
  for (int i = 0; i < 20; ++i) hex += "ab";
  EXPECT_EQ(Profiler({"buildid-list", "-i", File("images")}).out,
            hex + " /bin/hit\n" + hex + " /bin/missed\n");
  EXPECT_EQ(Profiler({"buildid-list", "-H", "-i", File("images")}).out, hex + " /bin/hit\n");
}

TEST_F(OutputTest, ImagesOfCallersAndImagesWithoutBuildIdAreHitToo) {
  const std::vector<std::byte> id(20, std::byte{0xab});
  perf_data::Features features;
  features.build_ids = {{7, 2, id, "/bin/calling"}, {7, 2, id, "/bin/missed"}};
  auto writer =
      perf_data::Writer::Create(File("images"), {{perf_data::UsualAttr(), "cpu-clock", {1}}}, 0);
  RecordBuilder records(perf_data::UsualAttr());
  records.By(7, 7).Id(1).At(1).Comm("program").Mmap2(0x1000, 0x1000, 0, "/bin/without");
  records.Mmap2(0x5000, 0x1000, 0, "/bin/calling");
  records.At(2).Sample(0x1010, {perf_event::kContextUser, 0x1010, 0x5010});
  EXPECT_TRUE(perf_data::AppendAll(**writer, records).ok());
  EXPECT_TRUE((*writer)->Finish(features).ok());
  std::string hex;
  for (int i = 0; i < 20; ++i) hex += "ab";
  EXPECT_EQ(Profiler({"buildid-list", "-H", "-i", File("images")}).out,
            hex + " /bin/calling\n" + std::string(41, ' ') + "/bin/without\n");
}

TEST_F(OutputTest, EventsAreListedByKindAndName) {
  EXPECT_THAT(Profiler({"list", "sw"}).out, HasSubstr("\n  task-clock "));
  EXPECT_THAT(Profiler({"list", "page-f*"}).out, testing::StartsWith("  page-faults "));
  EXPECT_THAT(Profiler({"list", "-j", "page-faults"}).out,
              HasSubstr("{\"EventName\":\"page-faults\",\"EventType\":\"software\""));
  EXPECT_EQ(Profiler({"list", "no-such-event"}).exit_code, 1);
  ExpectRefused(Profiler({"list", "/no/such/program"}), 1, "/no/such/program: No such file");
}

TEST_F(OutputTest, HelpIsThatOfTheOption) {
  EXPECT_EQ(Profiler({"help"}).out, Profiler({"--help"}).out);
  EXPECT_EQ(Profiler({"help", "stat"}).out, Profiler({"stat", "--help"}).out);
  EXPECT_EQ(Profiler({"version"}).out, Profiler({"--version"}).out);
  ExpectRefused(Profiler({"help", "nothing"}), 2, "there is no command 'nothing'");
}

// A mark below the text of -e points to the wrong event.
TEST_F(OutputTest, AWrongEventIsShownWithAMark) {
  const Finished finished = Profiler({"stat", "-e", "cycles:q", "true"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.err,
            "profiler: -e: cycles:q: no modifier 'q'; there are u k h H G p P S D I W e b\n"
            "  cycles:q\n"
            "         ^\n");
}

TEST_F(OutputTest, ArchiveOnAFullDiskLeavesTheRecordingAsItWasHoweverOftenItIsTried) {
  SmallDisk disk(files_);
  if (!disk.Mount()) GTEST_SKIP() << "no file system can be mounted here: that takes root";
  const std::string before = Recording("perf.data");
  disk.Fill();
  for (int i = 0; i < 2; ++i) {
    ExpectRefused(
        Profiler({"archive", "-i", File("perf.data")}), 1,
        "perf.data: No space left on device; free some space, or write elsewhere with -o");
    EXPECT_THAT(NamesIn(files_), ElementsAre("filler", "perf.data"));
    ExpectContents(File("perf.data"), before);
  }
}

TEST_F(OutputTest, ArchiveBeyondTheFileSizeLimitLeavesTheRecordingAsItWas) {
  if (!kRunsWithLimitedFiles) GTEST_SKIP() << "ThreadSanitizer does not start under ulimit -f";
  const std::string before = Recording("perf.data");
  ExpectRefused(LimitedProfiler({"archive", "-i", File("perf.data")}), 1, "ulimit -f");
  EXPECT_THAT(NamesIn(files_), ElementsAre("perf.data"));
  ExpectContents(File("perf.data"), before);
}

TEST_F(OutputTest, ArchiveKeepsTheOldRecordingBesideTheNewOneWithItsOwnerAndMode) {
  const std::string before = Recording("perf.data");
  chmod(File("perf.data").c_str(), 0640);
  const bool gives_away = chown(File("perf.data").c_str(), 12, 34) == 0;
  EXPECT_EQ(Profiler({"archive", "-q", "-i", File("perf.data")}).exit_code, 0);
  EXPECT_THAT(NamesIn(files_), ElementsAre("perf.data", "perf.data.old"));
  ExpectContents(File("perf.data.old"), before);
  EXPECT_NE(Contents(File("perf.data")), before);
  struct stat after {};
  ASSERT_EQ(stat(File("perf.data").c_str(), &after), 0);
  EXPECT_EQ(after.st_mode & 07777, 0640u);
  if (!gives_away) GTEST_SKIP() << "only root may give files away";
  EXPECT_EQ(after.st_uid, 12u);
  EXPECT_EQ(after.st_gid, 34u);
}

TEST_F(OutputTest, ThroughALinkArchiveReplacesWhatItPointsAt) {
  fs::create_directories(File("far/away"));
  const std::string before = Recording("far/away/recording");
  fs::create_symlink("away/recording", File("far/next"));
  fs::create_symlink(File("far/next"), File("perf.data"));
  EXPECT_EQ(Profiler({"archive", "-q", "-i", File("perf.data")}).exit_code, 0);
  EXPECT_EQ(fs::read_symlink(File("perf.data")), File("far/next"));
  EXPECT_EQ(fs::read_symlink(File("far/next")), "away/recording");
  EXPECT_THAT(NamesIn(File("far/away")), ElementsAre("recording", "recording.old"));
  EXPECT_NE(Contents(File("perf.data")), before);
  ExpectContents(File("far/away/recording.old"), before);
}

TEST_F(OutputTest, ALinkToNoFileYetIsWrittenThrough) {
  const std::string before = Recording("perf.data");
  fs::create_symlink("new.data", File("link"));
  EXPECT_EQ(Profiler({"convert", "-q", File("perf.data"), "-o", File("link")}).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(File("link")));
  ExpectContents(File("new.data"), before);
}

TEST_F(OutputTest, ConvertKeepsItsInputWhereTheOldOutputWouldTakeItsPlace) {
  for (const std::string how : {"perf.data.old", "./perf.data.old", "symbolic link", "hard link"}) {
    SCOPED_TRACE(how);
    fs::remove_all(files_);
    fs::create_directories(files_);
    const std::string input = Recording("perf.data.old");
    const std::string output = Recording("perf.data");
    if (how == "symbolic link") fs::create_symlink("perf.data.old", File(how));
    if (how == "hard link") fs::create_hard_link(File("perf.data.old"), File(how));
    const Finished converted = Profiler({"convert", File(how), "-o", File("perf.data")});
    EXPECT_EQ(converted.exit_code, 0) << converted.err;
    EXPECT_THAT(converted.err, HasSubstr("is kept as " + File("perf.data.old.old")));
    ExpectContents(File("perf.data"), input);
    ExpectContents(File("perf.data.old"), input);
    ExpectContents(File("perf.data.old.old"), output);
  }
}

TEST_F(OutputTest, ADamagedRecordingIsNotReplacedByWhatCanBeReadOfIt) {
  const std::string sound = Recording("perf.data");
  std::string damaged = sound;
  damaged.resize(sound.size() / 2);
  // Overwrites 64 bytes in the middle of the file, so that they are not valid records. All other
  // bytes stay.
  damaged += std::string(64, '\xff') + sound.substr(damaged.size() + 64);
  perf_data::WriteFile(File("perf.data"), BytesOfText(damaged));
  const Finished archived = Profiler({"archive", "-i", File("perf.data")});
  EXPECT_EQ(archived.exit_code, 1);
  EXPECT_THAT(archived.err, HasSubstr("-o"));
  EXPECT_THAT(NamesIn(files_), ElementsAre("perf.data"));
  ExpectContents(File("perf.data"), damaged);
  // Converting into a new file is permitted. It also exits with 1, but writes the readable part.
  EXPECT_EQ(Profiler({"convert", File("perf.data"), "-o", File("part.data")}).exit_code, 1);
  EXPECT_EQ(Profiler({"report", "-i", File("part.data")}).exit_code, 0);
}

TEST_F(OutputTest, WhatIsNoRegularFileIsWrittenAsItStands) {
  const std::string input = Recording("perf.data");
  EXPECT_EQ(Profiler({"convert", File("perf.data"), "-o", "/dev/null"}).exit_code, 0);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  // Standard output is a regular file here.
  for (const std::string name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    const Finished converted = Profiler({"convert", File("perf.data"), "-o", name});
    EXPECT_EQ(converted.exit_code, 0) << converted.err;
    EXPECT_TRUE(converted.out == input) << name;
  }
  ASSERT_EQ(mkfifo(File("fifo").c_str(), 0600), 0);
  Running writer({Runfile("profiler"), "convert", File("perf.data"), "-o", File("fifo")}, folder_);
  const Finished report = Profiler({"report", "-i", File("fifo"), "--stats"});
  EXPECT_EQ(writer.Wait().exit_code, 0);
  EXPECT_THAT(report.out, HasSubstr("SAMPLE events:"));
  EXPECT_TRUE(fs::is_fifo(File("fifo")));
  EXPECT_THAT(NamesIn(files_), ElementsAre("fifo", "perf.data"));
}

TEST_F(OutputTest, ARecordingIsNotWrittenOntoItselfThroughAnOpenFile) {
  const std::string before = Recording("perf.data");
  const std::string profiler = Runfile("profiler") + " convert " + File("perf.data");
  for (const std::string how : {" -o /dev/fd/1 1<>", " -o - 1<>", " -o - >>"}) {
    const Finished converted =
        tests::Run({"sh", "-c", profiler + how + File("perf.data")}, folder_);
    EXPECT_EQ(converted.exit_code, 1) << how;
    EXPECT_THAT(converted.err, HasSubstr("is the recording that is read")) << how;
    ExpectContents(File("perf.data"), before);
  }
}

// ---- a view

TEST_F(OutputTest, NoViewGoesOverARecording) {
  const std::string native = Recording("native.data");
  const std::string stream = File("stream.data");
  ASSERT_EQ(Profiler({"convert", "-q", "--pipe", File("native.data"), "-o", stream}).exit_code, 0);
  RecordBuilder records(perf_data::UsualAttr());
  perf_data::WriteFile(File("foreign.data"), perf_data::FileInOtherOrder(records.Sample(1)));
  perf_data::WriteFile(File("cut.data"), BytesOfText(native.substr(0, 50)));
  fs::create_symlink("native.data", File("link"));
  for (const std::string name :
       {"native.data", "stream.data", "foreign.data", "cut.data", "link"}) {
    const std::string before = Contents(File(name));
    for (const std::string view : {"flamegraph", "folded"}) {
      ExpectRefused(Profiler({view, "-i", File("native.data"), "-o", File(name)}), 2,
                    File(name) + " is a recording");
      ExpectContents(File(name), before);
    }
  }
}

TEST_F(OutputTest, NoViewGoesOverItsInputWhateverThatIs) {
  perf_data::WriteFile(File("notes"), BytesOfText("no recording"));
  ExpectRefused(Profiler({"folded", "-i", File("notes"), "-o", File("./notes")}), 2,
                "is what is read");
  EXPECT_EQ(Contents(File("notes")), "no recording");
}

TEST_F(OutputTest, AFunctionIsShownWithWhatTheRecordingHasLost) {
  const std::string program = fs::canonical(Runfile("profiler"));
  const MappedCode code = CodeOf(program);
  RecordBuilder records(perf_data::UsualAttr());
  records.By(7, 7).Id(1).At(1).Comm("program");
  records.Mmap2(code.address, code.size, code.offset, program).Sample(code.start);
  records.Lost(5).Lost(3).LostSamples(2);
  auto writer =
      perf_data::Writer::Create(File("perf.data"), {{perf_data::UsualAttr(), "cpu-clock", {1}}}, 0);
  ASSERT_TRUE(perf_data::AppendAll(**writer, records).ok());
  // Removes the host name. If the recording named another machine, the profiler would not take
  // local files for the recorded files.
  perf_data::Features features = perf_data::UsualFeatures();
  features.hostname.clear();
  ASSERT_TRUE((*writer)->Finish(features).ok());
  const Finished shown = Profiler({"annotate", "-i", File("perf.data"), "--no-cache"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("# Losses: 8 records lost in 2 gaps, 2 samples lost\n"));
  EXPECT_THAT(shown.out, HasSubstr("_start"));
}

TEST_F(OutputTest, AViewThatCannotBeMadeLeavesTheOldOneAsItWas) {
  Recording("perf.data");
  const std::string view = File("out.folded");
  const std::string old = "an older view\n";
  perf_data::WriteFile(view, BytesOfText(old));
  ExpectRefused(Profiler({"folded", "-i", File("missing"), "-o", view}), 1, "missing");
  EXPECT_EQ(Contents(view), old);
  if (kRunsWithLimitedFiles) {
    const std::string graph = File("out.svg");
    ExpectRefused(LimitedProfiler({"flamegraph", "-i", File("perf.data"), "-o", graph}), 1,
                  "ulimit -f");
  }
  EXPECT_THAT(NamesIn(files_), ElementsAre("out.folded", "perf.data"));
  chmod(view.c_str(), 0604);
  EXPECT_EQ(Profiler({"folded", "-i", File("perf.data"), "-o", view}).exit_code, 0);
  EXPECT_THAT(Contents(view), HasSubstr("program"));
  struct stat after {};
  ASSERT_EQ(stat(view.c_str(), &after), 0);
  EXPECT_EQ(after.st_mode & 0777, 0604u);
}

// ---- a terminal

// True if a terminal could treat bytes of `text` as a command.
bool Commands(const std::string& text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) return true;
    if (byte == 0x9b && (i == 0 || static_cast<unsigned char>(text[i - 1]) != 0xc3)) return true;
  }
  return false;
}

constexpr char kHostile[] =
    "/bin/\033]0;mine\007\u009b2J\x9b"
    "1m\x7f\r-größe-Û";

class TerminalTest : public OutputTest {
 protected:
  void SetUp() override {
    perf_event::Attr attr = perf_data::UsualAttr();
    auto writer = perf_data::Writer::Create(File("hostile.data"),
                                            {{attr, std::string("event\033[31m\x9b"), {1}}}, 0);
    ASSERT_TRUE(writer.ok());
    RecordBuilder records(attr);
    records.By(7, 7).Id(1).At(1).Comm("\033c\x9bk").Mmap2(0x1000, 0x2000, 0, kHostile);
    for (uint64_t time = 2; time < 30; ++time) records.At(time).Sample(0x1100);
    ASSERT_TRUE(perf_data::AppendAll(**writer, records).ok());
    perf_data::Features features = perf_data::UsualFeatures();
    features.hostname = "host\033[2J";
    features.cmdline = {"record", "\033[2J\x9b"};
    ASSERT_TRUE((*writer)->Finish(features).ok());
  }
};

TEST_F(TerminalTest, NoViewSendsItCommandsOfARecording) {
  const std::string input = File("hostile.data");
  const std::vector<std::vector<std::string>> views = {
      {"folded", "-i", input},
      {"folded", "--full-names", "-i", input},
      {"script", "-i", input},
      {"script", "--show-mmap-events", "--show-task-events", "-i", input},
      {"report", "-i", input},
      {"report", "--header-only", "-i", input},
      {"report", "--unresolved", "-i", input},
      {"dump", "-i", input},
      {"annotate", "-i", input},
      {"report", "-i", File("\033]0;none\007")},
      {"folded", "--event", "no\033c", "-i", input},
      {"symbolize", "-e", File("\033]0;none\x9b"), "1"},
      {"convert", input, "-o", File("\033c.data")},
      {"\033c"},
      {"report", "--\033c"},
  };
  for (const auto& view : views) {
    SCOPED_TRACE(testing::PrintToString(view));
    const Finished shown = Profiler(view);
    EXPECT_NE(shown.out + shown.err, "");
    EXPECT_FALSE(Commands(shown.out)) << testing::PrintToString(shown.out);
    EXPECT_FALSE(Commands(shown.err)) << testing::PrintToString(shown.err);
  }
}

TEST_F(TerminalTest, NamesInEveryScriptStayAsTheyAreAndTheRestIsSeen) {
  const Finished shown = Profiler({"folded", "-i", File("hostile.data")});
  EXPECT_THAT(shown.out, HasSubstr("\\033c\\233k"));
  EXPECT_THAT(shown.out, HasSubstr("\\033]0"));
  EXPECT_THAT(shown.out, HasSubstr("mine\\007\\302\\2332J\\2331m\\177 -größe-Û"));
}

TEST_F(TerminalTest, AFileHasTheSameBytesAsAPipe) {
  const Finished shown = Profiler({"folded", "-i", File("hostile.data")});
  ASSERT_EQ(Profiler({"folded", "-i", File("hostile.data"), "-o", File("out")}).exit_code, 0);
  EXPECT_EQ(Contents(File("out")), shown.out);
}

}  // namespace
}  // namespace profiler::tests
