// Records code with unusual positions in memory and in files, and checks the code's names. Cases
// are: files in memory; files that are gone, replaced, or part of another file; text in pieces;
// unusual segment layouts; and programs in another root directory. The recorded programs are made
// from laid_out.c and spin.c.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/live/command.h"

namespace profiler::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

// Up to 1 % of the samples are in the start of a program, which takes some milliseconds.
constexpr double kNamedPercent = 98;
// The path of calls, and the path that frame pointers give. hot_loop has no frame, so frame
// pointers skip its caller inner_level.
constexpr std::string_view kPath = ";spin;outer_level;inner_level;hot_loop ";
constexpr std::string_view kPathByFramePointers = ";spin;outer_level;hot_loop ";

class LayoutsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = "/tmp/profiler-layouts-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    const Finished probe = Profiler({"record", "-o", folder_ + "/probe.data", "--", "true"});
    if (probe.exit_code != 0) {
      GTEST_SKIP() << "this kernel lets nothing be recorded: " << probe.err;
    }
    if (Shell("command -v gcc").exit_code != 0) {
      GTEST_SKIP() << "not installed: gcc (Debian: gcc)";
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Finished Profiler(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Runfile("profiler"));
    return tests::Run(std::move(arguments), folder_);
  }
  // True if this user may open mapped files whose names are removed. Only root
  // may do so.
  static bool MaySeeMappedFiles() { return geteuid() == 0; }
  Finished Shell(const std::string& line) { return tests::Run({"sh", "-c", line}, folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  void Compile(const std::string& output, const std::string& options, const std::string& sources) {
    const Finished made = Shell("gcc -O2 -fno-omit-frame-pointer " + options + " -o " + output +
                                " " + sources + " -ldl");
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  void MakeProgram(const std::string& options = {}) {
    Compile("laid_out", options,
            Runfile("tests/live/laid_out.c") + " " + Runfile("tests/live/spin.c"));
  }
  void MakeLibrary(const std::string& name, const std::string& options = {}) {
    Compile(name, "-fPIC -shared -nostdlib -Wl,-e,spin " + options, Runfile("tests/live/spin.c"));
  }

  // Returns the percentage of the weight in stacks that end with kPath or kPathByFramePointers.
  double NamedShare() {
    std::istringstream lines(Profiler({"folded"}).out);
    double all = 0, named = 0;
    for (std::string line; std::getline(lines, line);) {
      const double weight = std::atof(line.c_str() + line.rfind(' ') + 1);
      all += weight;
      if (line.find(kPath) != std::string::npos ||
          line.find(kPathByFramePointers) != std::string::npos) {
        named += weight;
      }
    }
    return all == 0 ? 0 : 100 * named / all;
  }

  // Records laid_out with these arguments: once by frame pointers and once with unwinding. Expects
  // names.
  void ExpectNames(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Path("laid_out"));
    for (const char* const how : {"fp", "dwarf"}) {
      SCOPED_TRACE(how);
      ExpectNames(how, arguments);
    }
  }
  void ExpectNames(const std::string& how, const std::vector<std::string>& arguments) {
    std::vector<std::string> record = {"record",       "--call-graph", how,    "-e",
                                       "task-clock:u", "-F",           "1999", "--"};
    record.insert(record.end(), arguments.begin(), arguments.end());
    const Finished recorded = Profiler(record);
    ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
    EXPECT_GE(NamedShare(), kNamedPercent)
        << Profiler({"report", "--no-children", "-g", "none"}).out;
  }

  std::string folder_;
};

TEST_F(LayoutsTest, AProgramThatHasRemovedItselfIsNamed) {
  for (const char* const how : {"fp", "dwarf"}) {
    MakeProgram();
    ExpectNames(how, {Path("laid_out"), "unlinked"});
  }
}

TEST_F(LayoutsTest, AProgramInMemoryIsNamed) {
  MakeProgram();
  ExpectNames({"memfd"});
}

TEST_F(LayoutsTest, ALibraryInMemoryIsNamed) {
  if (!MaySeeMappedFiles()) GTEST_SKIP() << "only root may look at what processes have mapped";
  MakeProgram();
  MakeLibrary("libspin.so");
  ExpectNames({"memfd-library", Path("libspin.so")});
}

TEST_F(LayoutsTest, ALibraryThatIsReplacedWhileItRunsIsNamedByTheOneThatRan) {
  if (!MaySeeMappedFiles()) GTEST_SKIP() << "only root may look at what processes have mapped";
  MakeProgram();
  for (const char* const how : {"fp", "dwarf"}) {
    MakeLibrary("libspin.so");
    Compile("other.so", "-shared -fPIC -Dhot_loop=another -Dinner_level=other",
            Runfile("tests/live/spin.c"));
    ExpectNames(how, {Path("laid_out"), "replaced", Path("libspin.so"), Path("other.so")});
    EXPECT_THAT(Profiler({"report", "-g", "none"}).out, Not(HasSubstr("another")));
  }
}

TEST_F(LayoutsTest, TextInPiecesIsNamed) {
  MakeProgram();
  ExpectNames({"pieces"});
}

TEST_F(LayoutsTest, TextThatTheProgramHasPutIntoOtherMemoryIsNamed) {
  MakeProgram("-falign-functions=4096");
  ExpectNames({"copied"});
  ExpectNames({"moved"});
}

TEST_F(LayoutsTest, SegmentsAreNamedWhereverTheyLie) {
  const auto links = {"-Wl,-z,pack-relative-relocs",
                      "-no-pie -Wl,-Ttext-segment=0x10000000",
                      "-static",
                      "-static-pie",
                      "-Wl,-z,max-page-size=65536",
                      "-Wl,-z,max-page-size=2097152",
                      "-Wl,-z,max-page-size=2097152 -Wl,-z,noseparate-code",
                      "-fuse-ld=lld -no-pie -Wl,--image-base=0x30000000"};
  int made = 0;
  for (const std::string link : links) {
    SCOPED_TRACE(link);
    const Finished can_link =
        Shell("echo 'int main() {}' | gcc -x c - " + link + " -o probe && ./probe");
    if (can_link.exit_code != 0) {
      std::printf("skipped: %s, which cannot be linked here\n", link.c_str());
      continue;
    }
    MakeProgram(link);
    ExpectNames({"plain"});
    ++made;
  }
  EXPECT_GT(made, 0);
}

TEST_F(LayoutsTest, ALibraryWithAnImageBaseIsNamed) {
  MakeProgram();
  MakeLibrary("libspin.so", "-Wl,-Ttext-segment=0x40000000");
  ExpectNames({"library", Path("libspin.so")});
}

class ArchiveTest : public LayoutsTest {
 protected:
  // Writes the archive app.apk: `padding` bytes, then the library, then 100 bytes.
  void MakeArchive(size_t padding) {
    std::ifstream from(Path("libspin.so"), std::ios::binary);
    const std::string library{std::istreambuf_iterator<char>(from), {}};
    std::ofstream(Path("app.apk"), std::ios::binary)
        << "PK\3\4" << std::string(padding - 4, 'x') << library << std::string(100, 'x');
  }
};

TEST_F(ArchiveTest, AnElfFileInTheMiddleOfAnotherFileIsNamed) {
  MakeProgram();
  for (const char* const options : {"-Wl,--build-id", "-Wl,--build-id=none"}) {
    SCOPED_TRACE(options);
    MakeLibrary("libspin.so", options);
    MakeArchive(3 * 65536);
    // Stacks in an archive are not unwound, so frame pointers are used.
    ExpectNames("fp", {Path("laid_out"), "archive", Path("app.apk"), std::to_string(3 * 65536)});
  }
}

// Runs programs in another root directory, at a path where this machine has another program or
// none. The programs' files are removed before the recording ends.
class ContainersTest : public LayoutsTest {
 protected:
  static constexpr int kChildren = 40;

  void SetUp() override {
    LayoutsTest::SetUp();
    if (IsSkipped()) return;
    MakeProgram();
    if (geteuid() == 0) return;
    enter_ = {"unshare", "-Ur"};
    if (Shell("unshare -Ur true").exit_code != 0) GTEST_SKIP() << "no user may have a chroot here";
  }
  void MakeRoot() {
    std::filesystem::create_directories(Path("root/bin"));
    Compile("root/bin/child", "-static",
            Runfile("tests/live/laid_out.c") + " " + Runfile("tests/live/spin.c") + " 2>/dev/null");
  }
  void ExpectNames(const std::vector<std::string>& options) {
    std::vector<std::string> record = {"record", "--call-graph", "fp",          "-F",
                                       "1999",   "-e",           "task-clock:u"};
    record.insert(record.end(), options.begin(), options.end());
    record.push_back("--");
    record.insert(record.end(), enter_.begin(), enter_.end());
    record.insert(record.end(), {"sh", "-c",
                                 Path("laid_out") + " children " + Path("root") + " " +
                                     std::to_string(kChildren) + " && rm -r " + Path("root")});
    const Finished recorded = Profiler(record);
    ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
    EXPECT_FALSE(std::filesystem::exists(Path("root")));
    ExpectNamesOfChildren();
    EXPECT_THAT(recorded.err, Not(HasSubstr("another build")));
  }
  void ExpectNamesOfChildren() {
    const std::string report = Profiler({"report", "--no-children", "-g", "none", "--comm", "child",
                                         "--percentage", "relative"})
                                   .out;
    double percent = 0;
    std::istringstream lines(report);
    for (std::string line; std::getline(lines, line);) {
      if (line.find("hot_loop") != std::string::npos) percent += std::atof(line.c_str());
    }
    EXPECT_GE(percent, 90) << report;
    EXPECT_THAT(report, Not(HasSubstr("child+0x"))) << "functions without a name";
  }

  std::vector<std::string> enter_;  // command prefix that enters another root directory
};

TEST_F(ContainersTest, ShortLivedProgramsOfAnotherRootAreNamed) {
  MakeRoot();
  ExpectNames({});
}

TEST_F(ContainersTest, SoTheyAreAmongAllProcesses) {
  if (geteuid() != 0) GTEST_SKIP() << "only root sees all processes";
  MakeRoot();
  ExpectNames({"-a"});
}

TEST_F(ContainersTest, AFileSystemCanBeUnmountedBeforeItsProgramsAreNamed) {
  if (Shell("unshare -m mount -t tmpfs tmpfs /mnt").exit_code != 0) {
    GTEST_SKIP() << "no file system can be mounted here";
  }
  MakeRoot();
  std::filesystem::create_directory(Path("mount"));
  std::ofstream(Path("run")) << "set -e\n"
                                "mount -t tmpfs tmpfs mount\n"
                                "cp -r root/bin mount\n"
                                "./laid_out children mount 20\n"
                                // At this moment the recorder may be reading a file there.
                                "for try in $(seq 100); do\n"
                                "  umount mount 2>busy && exit\n"
                                "  sleep 0.05\n"
                                "done\n"
                                "cat busy >&2\n"
                                "exit 1\n";
  const Finished recorded = Shell("unshare -m " + Runfile("profiler") +
                                  " record --call-graph fp -F 1999 -e task-clock:u -- sh ./run");
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  ExpectNamesOfChildren();
}

TEST_F(ContainersTest, SoTheyAreInFilesThatGoOnInTheNext) {
  MakeRoot();
  ExpectNames({"--switch-output=10M"});
}

}  // namespace
}  // namespace profiler::tests
