// Records Java without any flag. Nearly all chains must be whole, nearly all Java frames must have
// names, and shares must agree with a recording that uses HotSpot's own map. Tests are skipped with
// a message if Java or a feature of Java is missing.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/live/command.h"

namespace profiler::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr double kWholePercent = 95, kNamedPercent = 95;
// Largest difference between a function's shares in two simultaneous recordings, in percentage
// points.
constexpr double kMostPoints = 3;

class JavaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = "/tmp/profiler-java-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    fs::permissions(folder_, fs::perms::all);
    fs::create_directory(folder_ + "/temporary");
    fs::permissions(folder_ + "/temporary", fs::perms::all);
    if (Run({"java", "-version"}).exit_code != 0) GTEST_SKIP() << "not installed: java";
    const Finished probe = Profiler({"record", "-o", "probe.data", "--", "true"});
    if (probe.exit_code != 0) {
      GTEST_SKIP() << "this kernel lets nothing be recorded: " << probe.err;
    }
    fs::copy_file(Runfile("tests/live/J.java"), folder_ + "/J.java");
    is_compiled_ = Run({"javac", "J.java"}).exit_code == 0;
  }
  void TearDown() override {
    EXPECT_TRUE(fs::is_empty(folder_ + "/temporary")) << "a dump was left";
    fs::remove_all(folder_);
  }

  Finished Run(std::vector<std::string> argv) { return tests::Run(std::move(argv), folder_); }
  Finished Profiler(std::vector<std::string> arguments) { return Run(ProfilerArgv(arguments)); }
  std::vector<std::string> ProfilerArgv(const std::vector<std::string>& arguments) const {
    std::vector<std::string> argv = {"env", "TMPDIR=" + folder_ + "/temporary", profiler_};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return argv;
  }
  // Returns the command that runs J in two threads for `milliseconds`.
  std::vector<std::string> Java(const std::vector<std::string>& flags, int milliseconds) const {
    std::vector<std::string> argv = {"java"};
    argv.insert(argv.end(), flags.begin(), flags.end());
    if (is_compiled_) argv.insert(argv.end(), {"-cp", folder_, "J"});
    if (!is_compiled_) argv.push_back(folder_ + "/J.java");
    argv.insert(argv.end(), {std::to_string(milliseconds), "2"});
    return argv;
  }
  std::string Record(const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = {"record", "-F", "499", "-g", "--"};
    const std::vector<std::string> java = Java(flags, 4000);
    arguments.insert(arguments.end(), java.begin(), java.end());
    const Finished recorded = Profiler(arguments);
    EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
    return recorded.err;
  }

  void ExpectWholeChains() {
    const std::string chains = Profiler({"report", "--chains"}).out;
    double percent = 0;
    long count = 0;
    ASSERT_EQ(
        std::sscanf(chains.c_str(), "# Call chains: %lf%% of %ld are whole", &percent, &count), 2)
        << chains;
    EXPECT_GE(count, 100) << chains;
    EXPECT_GE(percent, kWholePercent) << chains;
  }
  // Expects names for nearly all frames in compiled code and in bytecodes.
  void ExpectNames() {
    std::istringstream lines(Profiler({"script", "-F", "ip,sym,dso"}).out);
    size_t named = 0, unnamed = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.find("/jit-") != std::string::npos) ++named;
      if (line.find("/perf-") != std::string::npos ||
          line.find("[JIT code without a name]") != std::string::npos) {
        ++unnamed;
      }
    }
    EXPECT_GE(named, 500u);
    EXPECT_GE(static_cast<double>(named), (named + unnamed) * kNamedPercent / 100) << unnamed;
  }
  void ExpectStacksOfJ() {
    const std::string folded = Profiler({"folded"}).out;
    for (const char* const stack :
         {"void J.work;", "int J.fib;", "int J.deep;", "int J.exceptions;", "int J.collections;",
          "int J.nativeCall;"}) {
      EXPECT_TRUE(folded.find(stack) != std::string::npos) << stack;
    }
  }
  // Returns each function's percentage of the samples, without its callees. Samples in inlined
  // calls count for the function that contains the calls.
  std::map<std::string, double> SharesOf(const std::string& recording) {
    std::istringstream lines(Profiler({"report", "-i", recording, "--stdio", "--no-children", "-g",
                                       "none", "--no-inline", "--sort", "sym"})
                                 .out);
    static const std::regex row(R"(\s+([\d.]+)%\s+\[\.\] (.*\S)\s*)");
    std::map<std::string, double> shares;
    std::smatch match;
    for (std::string line; std::getline(lines, line);) {
      if (std::regex_match(line, match, row)) shares[match[2]] += std::stod(match[1]);
    }
    return shares;
  }

  std::string folder_;
  std::string profiler_ = Runfile("profiler");
  bool is_compiled_ = false;
};

TEST_F(JavaTest, CompiledAndInterpretedCodeIsNamedWithoutAnyFlag) {
  Record({});
  ExpectWholeChains();
  ExpectNames();
  ExpectStacksOfJ();
  EXPECT_THAT(Profiler({"script", "-F", "ip,sym,srcline"}).out, HasSubstr("J.java:"));
}

TEST_F(JavaTest, CodeThatIsOnlyInterpreted) {
  Record({"-Xint"});
  ExpectWholeChains();
  ExpectNames();
  ExpectStacksOfJ();
}

TEST_F(JavaTest, EachCollectorOfGarbage) {
  for (const char* const collector :
       {"-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC", "-XX:+UseZGC"}) {
    SCOPED_TRACE(collector);
    if (Run({"java", collector, "-version"}).exit_code != 0) {
      std::printf("skipped: this Java has no %s\n", collector);
      continue;
    }
    Record({collector});
    ExpectWholeChains();
    ExpectNames();
  }
}

TEST_F(JavaTest, AProcessThatRunsAlreadyAndIsKilled) {
  Running java(Java({}, 60'000), folder_);
  Running recorder(ProfilerArgv({"record", "-F", "499", "-g", "-p", std::to_string(java.pid())}),
                   folder_);
  sleep(4);
  java.Signal(SIGKILL);
  const Finished recorded = recorder.Wait();
  EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
  ExpectWholeChains();
  ExpectNames();
}

// HotSpot's map has no names of interpreted code, so only shares of compiled functions are
// compared.
TEST_F(JavaTest, SharesAreThoseByHotSpotsOwnMapAndFramePointers) {
  const std::vector<std::string> flags = {"-XX:+UnlockDiagnosticVMOptions",
                                          "-XX:+DumpPerfMapAtExit", "-XX:+PreserveFramePointer"};
  std::vector<std::string> probe = {"java"};
  probe.insert(probe.end(), flags.begin(), flags.end());
  probe.push_back("-version");
  if (Run(probe).exit_code != 0) GTEST_SKIP() << "this Java writes no map: before JDK 17";
  Running java(Java(flags, 12'000), folder_);
  const std::string pid = std::to_string(java.pid());
  sleep(3);
  Running by_map(
      ProfilerArgv({"record", "-F", "999", "--call-graph", "fp", "-o", "map.data", "-p", pid}),
      folder_);
  const Finished recorded = Profiler({"record", "-F", "999", "-g", "-o", "perf.data", "-p", pid});
  EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_EQ(by_map.Wait().exit_code, 0);
  java.Wait();
  fs::remove("/tmp/perf-" + pid + ".map");
  ExpectWholeChains();
  const auto mapped = SharesOf("map.data"), ours = SharesOf("perf.data");
  size_t compared = 0;
  for (const auto& [name, share] : mapped) {
    if (name.find(" J.") == std::string::npos || share < 1) continue;
    ++compared;
    const auto found = ours.find(name);
    EXPECT_NEAR(found == ours.end() ? 0 : found->second, share, kMostPoints) << name;
  }
  EXPECT_GE(compared, 3u);
}

TEST_F(JavaTest, AsTheUserOfTheProcess) {
  const std::vector<std::string> nobody = {"setpriv", "--reuid=65534", "--regid=65534",
                                           "--clear-groups"};
  if (geteuid() != 0 || Run({"setpriv", "--version"}).exit_code != 0) {
    GTEST_SKIP() << "needs root and setpriv to be another user";
  }
  profiler_ = folder_ + "/profiler";
  fs::copy_file(Runfile("profiler"), profiler_);
  fs::permissions(profiler_,
                  fs::perms::owner_all | fs::perms::others_exec | fs::perms::others_read);
  std::vector<std::string> argv = nobody;
  const std::vector<std::string> record = ProfilerArgv({"record", "-F", "499", "-g", "--"});
  const std::vector<std::string> java = Java({}, 4000);
  argv.insert(argv.end(), record.begin(), record.end());
  argv.insert(argv.end(), java.begin(), java.end());
  const Finished recorded = Run(argv);
  if (recorded.exit_code != 0) GTEST_SKIP() << "this user may not record: " << recorded.err;
  ExpectWholeChains();
  ExpectNames();
}

TEST_F(JavaTest, ARecordingWithoutNamesHasWholeChainsAllTheSame) {
  std::vector<std::string> arguments = {"record", "-F", "499", "-g", "--embed", "none", "--"};
  const std::vector<std::string> java = Java({}, 3000);
  arguments.insert(arguments.end(), java.begin(), java.end());
  const Finished recorded = Profiler(arguments);
  EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
  ExpectWholeChains();
}

}  // namespace
}  // namespace profiler::tests
