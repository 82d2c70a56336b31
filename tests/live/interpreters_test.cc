// Records programs in interpreted languages, run by the interpreters of this machine.

#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/live/command.h"

namespace profiler::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class InterpretersTest : public ::testing::Test {
 protected:
  InterpretersTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }
  Finished Profiler(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), profiler_);
    return tests::Run(std::move(arguments), folder_);
  }
  // Returns the program's output; nothing if the program is missing or fails.
  std::string OutputOf(const std::vector<std::string>& command) const {
    const Finished run = tests::Run(command, folder_);
    return run.exit_code == 0 ? run.out : "";
  }

  const std::string folder_ = testing::TempDir() + "/interpreters_" +
                              testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string profiler_ = Runfile("profiler");
};

// ---- Node.js

std::string Repeated(int times, std::string_view text) {
  std::string repeated;
  for (int i = 0; i < times; ++i) repeated += text;
  return repeated;
}

// Returns a program in which `main` calls `outer`, which calls `count`. V8 soon optimises all
// three. `outer` and `count` have more than the 460 bytes of bytecode that V8 copies into callers,
// so all three keep frames of their own. The program's argument is the run time in seconds; 0 means
// for ever.
std::string NodeProgram() {
  return R"(
function count(n) {
  let sum = 0;
  for (let i = 0; i < n; ++i) {)" +
         Repeated(60, " sum += i * i % 7;") + R"( }
  return sum;
}
class Worker {
  outer(n) { let sum = 0;)" +
         Repeated(60, " sum += count(n);") + R"( return sum; }
}
function main() {
  const worker = new Worker(), seconds = Number(process.argv[2]), start = Date.now();
  let sum = 0;
  for (let i = 0; seconds === 0 || Date.now() - start < seconds * 1000; ++i) {
    sum += worker.outer(500 + i % 10);
  }
  console.log(sum > 0);
}
main();
)";
}

class NodeTest : public InterpretersTest {
 protected:
  void SetUp() override {
    if (!OutputOf({"node", "--version"}).starts_with("v20.")) {
      GTEST_SKIP() << "there is no Node.js 20, of which it is known what it tells debuggers";
    }
    Write("program.js", NodeProgram());
  }

  // Returns the number of folded lines that contain all of `names`, in this order.
  int SamplesWith(const std::vector<std::string>& names) const {
    const Finished folded = Profiler({"folded", "--full-names"});
    EXPECT_EQ(folded.exit_code, 0) << folded.err;
    std::istringstream lines(folded.out);
    int samples = 0;
    for (std::string line; std::getline(lines, line);) {
      size_t at = 0;
      for (const std::string& name : names) at = at == line.npos ? at : line.find(name, at);
      if (at != line.npos) ++samples;
    }
    return samples;
  }

  // Returns the reported functions whose file is program.js, such as "count:2:15".
  std::set<std::string> FunctionsOfProgram() const {
    const Finished report = Profiler({"report", "--children", "-g", "none", "-s", "symbol"});
    std::set<std::string> functions;
    const std::regex function("JS:[~^*](\\S*) \\S*program\\.js:(\\d+:\\d+)");
    for (std::sregex_iterator it(report.out.begin(), report.out.end(), function), end; it != end;
         ++it) {
      functions.insert((*it)[1].str() + ":" + (*it)[2].str());
    }
    return functions;
  }

  void ExpectNames() const {
    EXPECT_GT(SamplesWith({"main /", "outer /", "count /"}), 0);
    EXPECT_THAT(FunctionsOfProgram(), ::testing::IsSupersetOf({"main:10:14", "outer:8:8"}));
    EXPECT_THAT(FunctionsOfProgram(),
                ::testing::Each(::testing::AnyOf("count:2:15", "outer:8:8", "main:10:14", ":1:1")));
  }
};

TEST_F(NodeTest, FunctionsOfAProgramThatIsStartedWithoutOptionsAreNamed) {
  const Finished recorded =
      Profiler({"record", "--call-graph", "dwarf", "-F", "499", "--", "node", "program.js", "2"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  SCOPED_TRACE(recorded.err);
  ExpectNames();
}

// Without these options, V8 replaces the code of main while main runs, and puts the code of outer and
// count into it. A recorder that comes later finds no name for such code.
TEST_F(NodeTest, FunctionsOfAProgramThatRunsAlreadyAreNamed) {
  Running node({"node", "--no-use-osr", "--no-turbo-inlining", "program.js", "0"}, folder_);
  const Finished recorded = Profiler({"record", "--call-graph", "dwarf", "-F", "499", "-p",
                                      std::to_string(node.pid()), "--duration", "3"});
  node.Signal(SIGKILL);
  node.Wait();
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  SCOPED_TRACE(recorded.err);
  ExpectNames();
}

TEST_F(NodeTest, TheInterpretersOwnFunctionsAreFoldedIntoThoseOfTheLanguage) {
  const Finished recorded =
      Profiler({"record", "--call-graph", "dwarf", "-F", "499", "--", "node", "program.js", "2"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  const Finished folded = Profiler({"folded", "--full-names", "--fold-native"});
  ASSERT_EQ(folded.exit_code, 0) << folded.err;
  // --fold-native shows Node's own functions only as callers of the outermost JavaScript function.
  EXPECT_THAT(folded.out, Not(::testing::ContainsRegex("JS:[^;\n]*;[^\n]*Builtins_")));
  EXPECT_THAT(folded.out, HasSubstr("JS:")) << recorded.err;
}

// ---- Python

constexpr const char* kPythonProgram = R"(
def count(n):
    total = 0
    for i in range(n):
        total += i * i % 7
    return total
def outer(n):
    return count(n) + count(n // 2)
for _ in range(300):
    outer(20000)
)";

class PythonTest : public InterpretersTest {
 protected:
  void SetUp() override { Write("program.py", kPythonProgram); }

  // Returns the minor version of the Python 3 interpreter `python`; -1 if it is missing.
  int MinorOf(const std::string& python) const {
    const std::string minor = OutputOf({python, "-c", "import sys; print(sys.version_info[1])"});
    return minor.empty() ? -1 : std::atoi(minor.c_str());
  }
};

TEST_F(PythonTest, FunctionsHaveNamesAndLinesIfTheUserMayRunProgramsInTheKernel) {
  const int minor = MinorOf("python3");
  if (minor < 8 || minor > 14) GTEST_SKIP() << "there is no python3 from 3.8 to 3.14";
  const Finished recorded =
      Profiler({"record", "--call-graph", "dwarf", "-F", "499", "--", "python3", "program.py"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  if (recorded.err.find("cannot run (") != std::string::npos) GTEST_SKIP() << recorded.err;
  EXPECT_THAT(recorded.err, Not(HasSubstr("have no names")));
  EXPECT_THAT(recorded.err,
              ::testing::ContainsRegex("Python: [0-9.]+ % of [0-9]+ stacks are whole"));
  EXPECT_THAT(Profiler({"folded"}).out,
              HasSubstr("__main__.<module>;__main__.outer;__main__.count"));
  EXPECT_THAT(Profiler({"report", "--children", "-g", "none", "-s", "dso,sym"}).out,
              ::testing::ContainsRegex("\\[python\\] +\\[\\.\\] __main__\\.outer"));
  // The line of the call: `return count(n) + count(n // 2)`.
  EXPECT_THAT(Profiler({"script", "-F", "ip,sym,srcline"}).out,
              ::testing::ContainsRegex("__main__\\.outer\n[^\n]*program\\.py:8\n"));
}

TEST_F(PythonTest, ThatFunctionsHaveNoNamesIsSaidWithWhatWouldNameThem) {
  if (MinorOf("python3") < 0) GTEST_SKIP() << "there is no python3";
  const Finished recorded = Profiler({"record", "--no-interpreters", "--call-graph", "dwarf", "-F",
                                      "499", "--", "python3", "program.py"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_THAT(recorded.err, HasSubstr("without --no-interpreters"));
  const std::string is_missing = "Python 3." + std::to_string(MinorOf("python3")) + " took ";
  EXPECT_THAT(recorded.err, HasSubstr(is_missing));
  EXPECT_THAT(recorded.err, HasSubstr("python3 -X perf, or with PYTHONPERFSUPPORT=1"));
  EXPECT_THAT(Profiler({"summary"}).out, HasSubstr(is_missing));
}

TEST_F(PythonTest, NothingIsSaidOfOtherPrograms) {
  const Finished recorded = Profiler({"record", "--call-graph", "dwarf", "-F", "499", "--", "sh",
                                      "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_THAT(recorded.err, Not(HasSubstr("Python")));
}

TEST_F(PythonTest, FunctionsThatHaveNamesAreFoldedIntoWhole) {
  std::string python;
  for (const char* const name : {"python3", "python3.12", "python3.13", "python3.14"}) {
    if (MinorOf(name) >= 12) python = name;
  }
  if (python.empty()) GTEST_SKIP() << "there is no Python that knows -X perf";
  const Finished recorded = Profiler(
      {"record", "--call-graph", "dwarf", "-F", "499", "--", python, "-X", "perf", "program.py"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_THAT(recorded.err, Not(HasSubstr("have no names")));
  const std::string outer_and_count = "py::outer:[^;\n]*program.py;py::count:[^;\n]*program.py";
  EXPECT_THAT(Profiler({"folded", "--full-names"}).out,
              Not(::testing::ContainsRegex(outer_and_count)));
  EXPECT_THAT(Profiler({"folded", "--full-names", "--fold-native"}).out,
              ::testing::ContainsRegex(outer_and_count));
}

}  // namespace
}  // namespace profiler::tests
