// Records processes for which records or /proc lack information: processes whose first thread has
// ended, processes that share memory with other processes, and processes with thousands of
// libraries. Also records functions with return probes. Compiles each program with this machine's C
// compiler.

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/live/made_program.h"

namespace profiler::tests {
namespace {

constexpr double kNearlyAll = 95;

constexpr char kZombieLeader[] = R"(
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
volatile unsigned long sink;
__attribute__((noinline)) void hot_inner(void) { for (int i = 0; i < 100000; i++) sink += i * sink; }
__attribute__((noinline)) void worker_outer(void) { time_t end = time(0) + 20; while (time(0) < end) hot_inner(); sink++; }
static void *run(void *a) { printf("%ld\n", (long)syscall(SYS_gettid)); fflush(stdout); worker_outer(); return a; }
int main(void) {
  pthread_t t;
  printf("%d\n", getpid()); fflush(stdout);
  pthread_create(&t, 0, run, 0);
  pthread_exit(0);
}
)";

constexpr char kLibrary[] = R"(
#include <time.h>
volatile unsigned long lib_sink;
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
__attribute__((noinline)) static void lib_leaf(void) { for (int i = 0; i < 100000; i++) lib_sink += i; }
void lib_spin(double s) { double e = now() + s; while (now() < e) lib_leaf(); }
)";

// A program whose parent and child process share their memory. The child maps a library, and then
// both run the library's code. If the program has an argument, the parent maps the library instead.
constexpr char kCloneVm[] = R"(
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static void (*volatile spin)(double);
static int parent_maps;
__attribute__((noinline)) void run_here(void) { spin(0.7); __asm__ volatile(""); }
static void load(void) { spin = (void (*)(double))dlsym(dlopen("./liba.so", RTLD_NOW), "lib_spin"); }
__attribute__((noinline)) int child_side(void *a) {
  if (!parent_maps) load();
  while (!spin) usleep(1000);
  run_here();
  __asm__ volatile("");
  return 0;
}
int main(int c, char **v) {
  parent_maps = c > 1;
  char *st = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int p = clone(child_side, st + (1 << 20), CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, 0);
  if (parent_maps) load();
  while (!spin) usleep(1000);
  run_here();
  waitpid(p, 0, 0);
}
)";

constexpr char kManyLibraries[] = R"(
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int c, char **v) {
  char p[300];
  void *h = 0;
  for (int i = 0; i < atoi(v[1]); i++) {
    snprintf(p, sizeof p, "./l/%d.so", i);
    if (!(h = dlopen(p, RTLD_NOW))) return 9;
  }
  ((void (*)(double))dlsym(h, "lib_spin"))(1.0);
  return 0;
}
)";

constexpr char kProbed[] = R"(
#include <time.h>
volatile unsigned long sink;
__attribute__((noinline)) void leaf(void) { for (int i = 0; i < 300000; i++) sink += i * sink; }
__attribute__((noinline)) int probed(int k) { for (int i = 0; i < k; i++) leaf(); return k + (int)sink; }
__attribute__((noinline)) int deep(int k) { int r = k > 0 ? deep(k - 1) : probed(2); sink++; return r + 1; }
__attribute__((noinline)) int outer_a(void) { int r = probed(3); sink++; return r; }
__attribute__((noinline)) int outer_b(void) { int r = probed(1); sink += 2; return r; }
int main(void) {
  while (clock() < 2 * CLOCKS_PER_SEC) { outer_a(); outer_b(); deep(5); }
}
)";

class UnusualProcessesTest : public MadeProgramTest {
 protected:
  void SetUp() override {
    MadeProgramTest::SetUp();
    if (!IsSkipped() && !IsInstalled("gcc", "gcc")) GTEST_SKIP();
  }

  void Compile(std::string_view source, const std::string& arguments) {
    std::ofstream(folder_ + "/source.c") << source;
    const Finished made = Shell("gcc -O2 -fomit-frame-pointer source.c " + arguments);
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  Stacks Folded(const std::string& options = "") {
    return Stacks(Shell(Runfile("profiler") + " folded " + options + " -i p.data").out);
  }
  // Runs zombie_leader, and records it with the options `how`. In `how`, $P is the process, and $T
  // is the thread that still runs. Expects stacks of this thread.
  void ExpectThreadOfZombieLeader(const std::string& how, const std::string& start = "") {
    const Finished recorded =
        Shell(start +
              "./zombie_leader > ids & C=$!; until [ $(wc -l < ids) = 2 ]; do :; done; "
              "P=$(head -1 ids) T=$(tail -1 ids); until grep -q '^State:.Z' /proc/$P/status; do :; "
              "done; " +
              Runfile("profiler") + " record -q -F 499 --call-graph dwarf -o p.data --duration 1 " +
              how + "; R=$?; kill $P; exit $R");
    ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
    const Stacks stacks = Folded("--comms zombie_leader");
    EXPECT_GE(stacks.ShareOf({"worker_outer", "hot_inner"}), kNearlyAll);
  }
};

TEST_F(UnusualProcessesTest, AProcessWhoseFirstThreadHasEndedIsRecorded) {
  Compile(kZombieLeader, "-o zombie_leader -lpthread");
  ExpectThreadOfZombieLeader("-p $P");
}

TEST_F(UnusualProcessesTest, OneThreadOfSuchAProcessIsRecorded) {
  Compile(kZombieLeader, "-o zombie_leader -lpthread");
  ExpectThreadOfZombieLeader("-t $T");
}

TEST_F(UnusualProcessesTest, SuchAProcessIsRecordedAmongAll) {
  Compile(kZombieLeader, "-o zombie_leader -lpthread");
  ExpectThreadOfZombieLeader("-a");
}

// Runs the program from a file system that only the program's process sees.
TEST_F(UnusualProcessesTest, SuchAProcessIsRecordedInAMountNamespaceOfItsOwn) {
  if (Shell("unshare -m true").exit_code != 0) GTEST_SKIP() << "no mount namespace can be made";
  Compile(kZombieLeader, "-o made -lpthread");
  Shell("mkdir -p inside");
  std::ofstream(folder_ + "/zombie_leader")
      << "#!/bin/sh\nexec unshare -m sh -c 'mount -t tmpfs none inside && cp made "
         "inside/zombie_leader && exec inside/zombie_leader'\n";
  Shell("chmod +x zombie_leader");
  ExpectThreadOfZombieLeader("-p $P");
}

TEST_F(UnusualProcessesTest, ProcessesInOneMemoryHaveWhatTheOtherHasMapped) {
  Compile(kLibrary, "-fPIC -shared -o liba.so");
  Compile(kCloneVm, "-o clone_vm -ldl");
  for (const std::string who_maps : {"", " parent"}) {
    const Finished recorded =
        Shell(Runfile("profiler") + " record -q -F 499 --call-graph dwarf -o p.data -- ./clone_vm" +
              who_maps);
    ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
    const Stacks stacks = Folded();
    EXPECT_GE(stacks.ShareOf({"main", "run_here", "lib_spin"}), 40) << who_maps;
    EXPECT_GE(stacks.ShareOf({"child_side", "run_here", "lib_spin"}), 40) << who_maps;
  }
}

// Without call chains nothing is unwound. Then records are not sorted by time, and mappings are
// found in another way.
TEST_F(UnusualProcessesTest, ProcessesInOneMemoryAreNamedWithoutCallChains) {
  Compile(kLibrary, "-fPIC -shared -o liba.so");
  Compile(kCloneVm, "-o clone_vm -ldl");
  const Finished recorded =
      Shell(Runfile("profiler") + " record -q -F 499 --call-graph none -o p.data -- ./clone_vm");
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_GE(Folded().ShareOf({"lib_leaf"}), 90);
}

TEST_F(UnusualProcessesTest, AProcessMayHaveThousandsOfLibraries) {
  Compile(kLibrary, "-fPIC -shared -Wl,-z,noseparate-code -o liba.so");
  Compile(kManyLibraries, "-o many -ldl");
  const Finished made = Shell(
      "mkdir l && i=0; while [ $i -lt 2500 ]; do ln liba.so l/$i.so; i=$((i+1)); done; "
      "rm l/2499.so; cp liba.so l/2499.so");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  // Replaces the hard links by copies, because the dynamic linker would load all links as one
  // library.
  Shell("for f in l/*.so; do cp --remove-destination liba.so $f; done");
  const Finished recorded = Shell(
      Runfile("profiler") + " record -F 499 -m 64M --call-graph dwarf -o p.data -- ./many 2500");
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_GE(Folded().ShareOf({"main", "lib_spin", "lib_leaf"}), 30)
      << recorded.err
      << Shell(Runfile("profiler") + " report -i p.data --no-children -g none --stdio | head -40")
             .out;
}

TEST_F(UnusualProcessesTest, ChainsGoOnWhereAReturnProbeHidesTheCaller) {
  Compile(kProbed, "-o probed");
  const Finished recorded =
      Shell(Runfile("profiler") +
            " record -q -F 499 --call-graph dwarf -e cpu-clock -e ./probed:probed%return "
            "-e ./probed:deep%return -o p.data -- ./probed");
  if (recorded.exit_code != 0) GTEST_SKIP() << recorded.err;
  const Stacks stacks = Folded("--event cpu-clock");
  const double a = stacks.ShareOf({"main", "outer_a", "probed", "leaf"});
  const double b = stacks.ShareOf({"main", "outer_b", "probed", "leaf"});
  const double deep =
      stacks.ShareOf({"main", "deep", "deep", "deep", "deep", "deep", "deep", "probed", "leaf"});
  EXPECT_NEAR(a, 50, 8);
  EXPECT_NEAR(b, 17, 8);
  EXPECT_NEAR(deep, 33, 8);
  EXPECT_GE(a + b + deep, stacks.ShareOf({"leaf"}) - 0.5) << "of the function that it calls";
}

TEST_F(UnusualProcessesTest, AReturnProbeThatWouldEndTheProgramIsRefused) {
  if (!IsInstalled("g++", "g++")) GTEST_SKIP();
  std::ofstream(folder_ + "/throws.cc") << R"(
#include <cstdio>
__attribute__((noinline)) void inner() { throw 1; }
extern "C" __attribute__((noinline)) int probed() { inner(); return 1; }
int main() { try { probed(); } catch (int) { std::puts("caught"); } }
)";
  ASSERT_EQ(Shell("g++ -O1 throws.cc -o throws").exit_code, 0);
  const std::string stat = Runfile("profiler") + " stat ";
  const Finished refused = Shell(stat + "-e ./throws:probed%return -- ./throws");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("it has exception handlers"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("--force"), std::string::npos) << refused.err;
  const Finished entry = Shell(stat + "-e ./throws:probed -- ./throws");
  if (entry.exit_code == 0) {
    EXPECT_EQ(entry.out, "caught\n");
  }
}

}  // namespace
}  // namespace profiler::tests
