// Records programs that are installed on this machine, unwinds their stacks while they run, and
// checks that nearly every call chain reaches the thread's start. Missing programs are skipped with
// a message.

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/live/command.h"

namespace profiler::tests {
namespace {

constexpr double kWholePercent = 99.5;

constexpr char kPythonLoop[] = R"(
def inner(n):
    total = 0
    for i in range(n):
        total += i * i % 7
    return total
def outer(n):
    return sum(inner(1000) for _ in range(n))
for _ in range(25):
    outer(1000)
)";

constexpr char kNodeLoop[] = R"(
function inner(n) { let s = 0; for (let i = 0; i < n; ++i) s = (s + i * i) % 1000003; return s; }
function outer(n) { return [...Array(n).keys()].map(i => inner(1000 + i % 7)).reduce((a, b) => a + b); }
let s = 0;
while (process.cpuUsage().user < 2.5e6) s += outer(1000);
)";

constexpr char kTemplates[] = R"(
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <string>
int main() {
  std::map<std::string, std::function<bool(const std::string&)>> tests;
  tests["a"] = [](const std::string& s) { return std::regex_match(s, std::regex("a+b")); };
  std::string word;
  while (std::cin >> word) std::cout << tests["a"](word);
}
)";

// An assembly function whose call frame information has one rule for all its code. The code
// contains three helpers: the first only counts, the second saves registers, and the third calls
// the first.
constexpr char kHelpers[] = R"(
#include <time.h>
void vm_entry(unsigned long n);
__asm__(".text\n.globl vm_entry\n.type vm_entry,@function\nvm_entry:\n.cfi_startproc\n"
        ".cfi_def_cfa_offset 40\n"
        "sub $32,%rsp\nmovq $0,(%rsp)\nmovq $0,8(%rsp)\nmovq $0,16(%rsp)\nmovq $0,24(%rsp)\n"
        "mov %rdi,%rcx\n1: dec %rcx\njnz 1b\n"
        "mov %rdi,%rcx\ncall 2f\nmov %rdi,%rcx\ncall 3f\nmov %rdi,%rcx\ncall 5f\n"
        "add $32,%rsp\nret\n"
        "2: dec %rcx\njnz 2b\nret\n"
        "3: push %rbx\npush %rcx\n4: dec %rcx\njnz 4b\npop %rcx\npop %rbx\nret\n"
        "5: sub $24,%rsp\nmovq $0,(%rsp)\nmovq $0,8(%rsp)\ncall 2b\nadd $24,%rsp\nret\n"
        ".cfi_endproc\n.size vm_entry,.-vm_entry\n");
__attribute__((noinline)) void runs_vm(unsigned long n) { vm_entry(n); __asm__ volatile(""); }
int main(void) {
  struct timespec t;
  do {
    runs_vm(500000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  } while (t.tv_sec < 1);
}
)";

// Each thread is sampled at its first instruction, too, because the kernel works there for it.
constexpr char kThreads[] = R"(
#include <pthread.h>
#include <time.h>
static void* count(void* times) {
  for (volatile long i = 0; i < (long)times; ++i) {}
  return 0;
}
int main(void) {
  struct timespec t;
  do {
    pthread_t thread;
    pthread_create(&thread, 0, count, (void*)2000);
    pthread_join(thread, 0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  } while (t.tv_sec < 3);
}
)";

class WholeChainsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = "/tmp/profiler-chains-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    const Finished probe = Profiler({"record", "-o", folder_ + "/probe.data", "--", "true"});
    if (probe.exit_code != 0) {
      GTEST_SKIP() << "this kernel lets nothing be recorded: " << probe.err;
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Finished Profiler(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Runfile("profiler"));
    return tests::Run(std::move(arguments), folder_);
  }

  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  // Records `command` with `options`; skips the test if its program is not installed.
  void ExpectWholeChains(std::vector<std::string> command, std::vector<std::string> options = {}) {
    if (tests::Run({"sh", "-c", "command -v " + command[0]}, folder_).exit_code != 0) {
      GTEST_SKIP() << "not installed: " << command[0];
    }
    std::vector<std::string> arguments = {"record", "--call-graph", "dwarf"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back("--");
    arguments.insert(arguments.end(), command.begin(), command.end());
    const Finished recorded = Profiler(arguments);
    ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
    const std::string chains = Profiler({"report", "--chains"}).out;
    double percent = 0;
    long count = 0;
    ASSERT_EQ(
        std::sscanf(chains.c_str(), "# Call chains: %lf%% of %ld are whole", &percent, &count), 2)
        << chains;
    // With fewer chains, a single cut chain could fail the test.
    EXPECT_GE(count, 400) << chains;
    EXPECT_GE(percent, kWholePercent) << chains;
    RecordProperty("chains", chains);
  }

  std::string folder_;
};

TEST_F(WholeChainsTest, APythonLoop) {
  ExpectWholeChains({"python3", Write("loop.py", kPythonLoop)});
}

// Between two Python frames, CPython has a trampoline. The trampoline has neither call frame
// information nor a frame pointer.
TEST_F(WholeChainsTest, PythonFunctionsThatThePerfMapNames) {
  const std::string find =
      "for python in python3.14 python3.13 python3.12 python3; do"
      " $python -X perf -c 'import sys; sys.is_stack_trampoline_active() or sys.exit(1);"
      " print(sys.executable)' 2>/dev/null && exit; done";
  std::string python = tests::Run({"sh", "-c", find}, folder_).out;
  if (python.empty())
    GTEST_SKIP() << "not installed: python3 of version 3.12 or later, which has -X perf";
  python.pop_back();
  const std::string loop = Write("loop.py", kPythonLoop);
  ExpectWholeChains({python, "-X", "perf", loop});
  const std::string folded = Profiler({"folded"}).out;
  EXPECT_NE(folded.find("py::<module>:" + loop + ";"), std::string::npos);
  EXPECT_NE(folded.find("py::outer:" + loop + ";"), std::string::npos);
  EXPECT_NE(folded.find("py::inner:" + loop + ";"), std::string::npos);
}

TEST_F(WholeChainsTest, NodeRunningCodeThatItCompiledItself) {
  ExpectWholeChains({"node", Write("loop.js", kNodeLoop)});
}

// A thread here runs for 0.1 ms, and each thread has its own sampling period.
TEST_F(WholeChainsTest, ThreadsThatHaveJustStarted) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root records the kernel, which works at a thread's first instruction";
  }
  const std::string program = folder_ + "/threads";
  const std::vector<std::string> compile = {"gcc", "-O2",   "-pthread",
                                            "-o",  program, Write("threads.c", kThreads)};
  if (tests::Run(compile, folder_).exit_code != 0) GTEST_SKIP() << "gcc cannot make the program";
  ExpectWholeChains({program}, {"-F", "9999"});
}

#if defined(__x86_64__)
TEST_F(WholeChainsTest, AssemblyThatCallsHelpersInsideItself) {
  const std::string program = folder_ + "/helpers";
  const std::string source = Write("helpers.c", kHelpers);
  const std::vector<std::string> compile = {"gcc", "-O2",   "-fomit-frame-pointer",
                                            "-o",  program, source};
  if (tests::Run(compile, folder_).exit_code != 0) GTEST_SKIP() << "gcc cannot make the program";
  ExpectWholeChains({program});
  std::istringstream folded(Profiler({"folded"}).out);
  long all = 0, from_main = 0;
  for (std::string line; std::getline(folded, line);) {
    const long weight = std::stol(line.substr(line.rfind(' ')));
    all += weight;
    if (line.find(";main;runs_vm;vm_entry") != std::string::npos) from_main += weight;
  }
  EXPECT_GE(from_main, all * 0.98);
}
#endif

TEST_F(WholeChainsTest, ACompiler) {
  ExpectWholeChains({"g++", "-O2", "-c", "-o", folder_ + "/out.o", Write("t.cc", kTemplates)});
}

}  // namespace
}  // namespace profiler::tests
