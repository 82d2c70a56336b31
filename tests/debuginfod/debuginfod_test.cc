// Tests fetching of files in all its steps. The recorded program is gone. The profiler runs as a
// user runs it, and libdebuginfod asks a server of this test.

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "tests/debuginfod/file_server.h"
#include "tests/live/command.h"

namespace profiler::tests {
namespace {

namespace fs = std::filesystem;

std::string Contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Returns a file's build-id: the 20 bytes after the header of its note.
std::string BuildIdOf(const std::string& elf) {
  const std::string head("\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0", 16);
  const size_t at = elf.find(head);
  return at == std::string::npos ? "" : elf.substr(at + head.size(), 20);
}

class DebuginfodTest : public testing::Test {
 protected:
  DebuginfodTest()
      : folder_(testing::TempDir() + "/" +
                testing::UnitTest::GetInstance()->current_test_info()->name()),
        executable_(Contents(Runfile("symbolize/testdata/inlined_stripped"))),
        debug_(Contents(Runfile("symbolize/testdata/inlined.debug"))),
        build_id_(BuildIdOf(executable_)),
        its_path_("/buildid/" + absl::BytesToHexString(build_id_)) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  // Writes a recording with 200 samples in /gone/inlined and one sample in /gone/rare.
  void SetUp() override {
    ASSERT_EQ(build_id_.size(), 20u);
    const perf_event::Attr attr = perf_data::UsualAttr();
    auto writer = perf_data::Writer::Create(folder_ + "/perf.data", {{attr, "cpu-clock", {1}}}, 0);
    ASSERT_TRUE(writer.ok()) << writer.status();
    const uint64_t code = executable_.find("<innermost>");
    const std::string other_id(20, 'r');
    perf_event::RecordBuilder records(attr);
    records.Id(1).By(7, 7).At(1).Comm("cat");
    records.Mmap2(0x400000, 0x100000, 0, "/gone/inlined", std::as_bytes(std::span(build_id_)));
    records.Mmap2(0x800000, 0x100000, 0, "/gone/rare", std::as_bytes(std::span(other_id)));
    for (uint64_t i = 0; i < 200; ++i) {
      records.At(10 + i).Sample(0x400000 + code, {perf_event::kContextUser, 0x400000 + code});
    }
    records.At(300).Sample(0x800100, {perf_event::kContextUser, 0x800100});
    ASSERT_TRUE(perf_data::AppendAll(**writer, records).ok());
    ASSERT_TRUE((*writer)->FinishRound().ok());
    ASSERT_TRUE((*writer)->Finish({}).ok());
  }

  void ServeAll(FileServer& server) {
    server.Serve(its_path_ + "/executable", executable_);
    server.Serve(its_path_ + "/debuginfo", debug_);
  }

  std::vector<std::string> CommandLine(const std::string& urls,
                                       const std::vector<std::string>& arguments) const {
    std::vector<std::string> argv = {"env", "-u", "DEBUGINFOD_VERBOSE", "-u", "http_proxy",
                                     // At exit a thread that waits for a server may still hold
                                     // memory of libcrypto. That is not a leak.
                                     "LSAN_OPTIONS=detect_leaks=0", "DEBUGINFOD_URLS=" + urls,
                                     "DEBUGINFOD_CACHE_PATH=" + folder_ + "/cache",
                                     Runfile("profiler")};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return argv;
  }
  Finished Profiler(const std::string& urls, const std::vector<std::string>& arguments) const {
    return tests::Run(CommandLine(urls, arguments), folder_);
  }
  Finished Folded(const std::string& urls, std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), "folded");
    return Profiler(urls, arguments);
  }

  // Archives names into the recording. Uses `fixture` in place of the recorded program.
  void Archive(const std::string& fixture) {
    fs::create_directories(folder_ + "/root/gone");
    fs::copy(Runfile("symbolize/testdata/" + fixture), folder_ + "/root/gone/inlined");
    const Finished archived = Profiler("", {"archive", "-q", "--symfs", folder_ + "/root"});
    ASSERT_EQ(archived.exit_code, 0) << archived.err;
  }

  // Expects that a failed fetch is not cached: the next run succeeds with a good server.
  void ExpectThatAGoodServerHelps() {
    FileServer good;
    ServeAll(good);
    const Finished folded = Folded(good.url());
    EXPECT_EQ(folded.out, kNamed);
    EXPECT_EQ(folded.err, "");
  }

  static constexpr std::string_view kNamed = "cat;[rare] 1\ncat;outermost;middle;innermost 200\n";
  static constexpr std::string_view kUnnamed = "cat;[inlined] 200\ncat;[rare] 1\n";

  const std::string folder_;
  const std::string executable_, debug_, build_id_;
  const std::string its_path_;  // path of the program on servers
};

TEST_F(DebuginfodTest, NamesComeFromTheServerAndFromTheCacheWhenItIsGone) {
  std::string url;
  {
    FileServer server;
    url = server.url();
    ServeAll(server);
    const Finished folded = Folded(url);
    EXPECT_EQ(folded.out, kNamed);
    EXPECT_EQ(folded.err, "");
    EXPECT_EQ(absl::StrJoin(server.requests(), " "),
              its_path_ + "/executable " + its_path_ + "/debuginfo");
  }
  const Finished again = Folded(url);
  EXPECT_EQ(again.out, kNamed);
  EXPECT_EQ(again.err, "");
}

TEST_F(DebuginfodTest, EveryViewFetches) {
  for (const std::vector<std::string>& view : std::vector<std::vector<std::string>>{
           {"report", "-g", "none"}, {"script"}, {"folded"}, {"flamegraph", "-o", "-"}}) {
    FileServer server;
    ServeAll(server);
    const Finished shown = Profiler(server.url(), view);
    EXPECT_NE(shown.out.find("outermost"), std::string::npos) << view[0] << "\n" << shown.out;
    EXPECT_EQ(shown.err, "") << view[0];
    EXPECT_EQ(server.requests().size(), 2u) << view[0];
    fs::remove_all(folder_ + "/cache");
  }
}

TEST_F(DebuginfodTest, NothingIsAskedWhereItIsTurnedOff) {
  FileServer server;
  ServeAll(server);
  EXPECT_EQ(Folded(server.url(), {"--no-debuginfod"}).out, kUnnamed);
  EXPECT_EQ(Folded("").out, kUnnamed);
  EXPECT_EQ(server.requests().size(), 0u);
  EXPECT_FALSE(fs::exists(folder_ + "/cache"));
}

TEST_F(DebuginfodTest, ARecordingThatCarriesItsLinesAsksForNothing) {
  Archive("inlined");
  FileServer server;
  ServeAll(server);
  EXPECT_EQ(Folded(server.url()).out, kNamed);
  EXPECT_EQ(server.requests().size(), 0u);
}

TEST_F(DebuginfodTest, ARecordingThatCarriesOnlySymbolsIsGivenTheInlinedCallsToo) {
  Archive("inlined_stripped");
  EXPECT_EQ(Folded("").out, "cat;[rare] 1\ncat;outermost 200\n");
  FileServer server;
  ServeAll(server);
  EXPECT_EQ(Folded(server.url()).out, kNamed);
}

TEST_F(DebuginfodTest, WhatTheServerDoesNotHaveIsNotWorthALine) {
  FileServer server;
  const Finished folded = Folded(server.url());
  EXPECT_EQ(folded.out, kUnnamed);
  EXPECT_EQ(folded.err, "");
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(DebuginfodTest, AServerThatHangsIsGivenUp) {
  FileServer server;
  server.HangOn(its_path_ + "/executable");
  const Finished folded = Folded(server.url(), {"--debuginfod-timeout", "0.2"});
  EXPECT_EQ(folded.out, kUnnamed);
  EXPECT_EQ(folded.exit_code, 0);
  EXPECT_EQ(folded.err, absl::StrCat("profiler: warning: debuginfod: /gone/inlined (build-id ",
                                     absl::BytesToHexString(build_id_),
                                     "): not all came within 0.2 s (--debuginfod-timeout)\n"));
  EXPECT_EQ(server.requests().size(), 1u);
  ExpectThatAGoodServerHelps();
}

// Simulates a kill between two steps: the library has cached the miss, and the profiler has not yet
// removed it.
TEST_F(DebuginfodTest, AMissWhoseProcessWasCutOffIsNotBelieved) {
  const std::string cached =
      folder_ + "/cache/" + absl::BytesToHexString(build_id_) + "/executable";
  fs::create_directories(fs::path(cached).parent_path());
  std::ofstream(cached).close();
  FileServer good;
  ServeAll(good);
  EXPECT_EQ(Folded(good.url()).out, kUnnamed);
  EXPECT_EQ(good.requests().size(), 0u);
  std::ofstream(cached + ".unfinished").close();
  EXPECT_EQ(Folded(good.url()).out, kNamed);
  EXPECT_FALSE(fs::exists(cached + ".unfinished"));
}

TEST_F(DebuginfodTest, WhatCameBeforeTheServerHungIsUsed) {
  FileServer server;
  server.Serve(its_path_ + "/executable", executable_);
  server.HangOn(its_path_ + "/debuginfo");
  const Finished folded = Folded(server.url(), {"--debuginfod-timeout", "2"});
  EXPECT_EQ(folded.out, "cat;[rare] 1\ncat;outermost 200\n");
  ExpectThatAGoodServerHelps();
}

TEST_F(DebuginfodTest, AFileWithAnotherBuildIdIsRefusedAndNamed) {
  FileServer server;
  server.Serve(its_path_ + "/executable", Contents(Runfile("symbolize/testdata/pie")));
  const Finished folded = Folded(server.url());
  EXPECT_EQ(folded.out, kUnnamed);
  const std::string other =
      absl::BytesToHexString(BuildIdOf(Contents(Runfile("symbolize/testdata/pie"))));
  EXPECT_EQ(folded.err,
            absl::StrCat("profiler: warning: debuginfod: /gone/inlined (build-id ",
                         absl::BytesToHexString(build_id_), "): not used: ", server.url(),
                         its_path_, "/executable has build-id ", other, "\n"));
  ExpectThatAGoodServerHelps();
}

TEST_F(DebuginfodTest, ADownloadThatBreaksOffIsToldAndNotUsed) {
  FileServer server;
  server.Serve(its_path_ + "/executable", executable_);
  server.ServeHalf(its_path_ + "/debuginfo", debug_);
  const Finished folded = Folded(server.url());
  EXPECT_EQ(folded.out, "cat;[rare] 1\ncat;outermost 200\n");
  // Expects curl's message about missing bytes, in the wording of any version.
  EXPECT_THAT(folded.err, testing::ContainsRegex("/debuginfo: [a-z ]* [0-9]+ bytes "))
      << folded.err;
  ExpectThatAGoodServerHelps();
}

TEST_F(DebuginfodTest, AServerInTroubleIsToldOnce) {
  FileServer server;
  server.Refuse(its_path_ + "/executable", 500);
  const Finished folded = Folded(server.url());
  EXPECT_EQ(folded.out, kUnnamed);
  EXPECT_NE(folded.err.find("500\n"), std::string::npos) << folded.err;
  ExpectThatAGoodServerHelps();
}

TEST_F(DebuginfodTest, OneServerInTroubleDoesNotStopAnother) {
  FileServer broken;
  broken.Refuse(its_path_ + "/executable", 500);
  FileServer good;
  ServeAll(good);
  EXPECT_EQ(Folded(broken.url() + " " + good.url()).out, kNamed);
}

TEST_F(DebuginfodTest, AFileThatIsTooLargeIsNotFetched) {
  FileServer server;
  ServeAll(server);
  const Finished folded = Folded(server.url(), {"--debuginfod-size", "1K"});
  EXPECT_EQ(folded.out, kUnnamed);
  EXPECT_NE(folded.err.find("(--debuginfod-size)\n"), std::string::npos) << folded.err;
  ExpectThatAGoodServerHelps();
}

TEST_F(DebuginfodTest, OnATerminalALineShowsTheImageAndCtrlCSkipsIt) {
  FileServer server;
  server.HangOn(its_path_ + "/executable");
  std::vector<std::string> argv = CommandLine(server.url(), {"folded"});
  std::vector<char*> pointers;
  for (std::string& argument : argv) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  int terminal = -1;
  const pid_t pid = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (pid == 0) {
    setenv("PROFILER_PAGER", "cat", 1);  // no user is there to quit a pager
    if (chdir(folder_.c_str()) == 0) execvp(pointers[0], pointers.data());
    _exit(127);
  }
  std::string shown;
  bool interrupted = false;
  char piece[4096];
  for (ssize_t size; (size = read(terminal, piece, sizeof(piece))) > 0;) {
    shown.append(piece, static_cast<size_t>(size));
    if (!interrupted && shown.find("inlined (Ctrl-C skips it)") != std::string::npos) {
      interrupted = write(terminal, "\x03", 1) == 1;
    }
  }
  int status = 0;
  waitpid(pid, &status, 0);
  close(terminal);
  EXPECT_TRUE(interrupted) << shown;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << shown;
  // The progress line must be erased before the warning is printed.
  EXPECT_NE(shown.find("\r\033[Kprofiler: warning: debuginfod: "), std::string::npos) << shown;
  EXPECT_NE(shown.find("): skipped"), std::string::npos) << shown;
  EXPECT_NE(shown.find("cat;[inlined] 200"), std::string::npos) << shown;
  ExpectThatAGoodServerHelps();
}

}  // namespace
}  // namespace profiler::tests
