// Tests the session on the running kernel. Skips tests for which the running kernel forbids
// recording.

#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <ctime>
#include <filesystem>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "src/format/perf_data/sections/own_sections.h"
#include "src/machine/events/find_events.h"
#include "src/record/bpf/programs.h"
#include "src/record/session.h"
#include "src/record/testing/recorded_file.h"
#include "src/record/waiting_thread.h"

namespace profiler::record {
namespace {

// Uses this much CPU time in the calling thread.
void Burn(std::chrono::milliseconds time) {
  timespec now{};
  volatile uint64_t sink = 0;
  do {
    for (int i = 0; i < 10000; ++i) sink = sink + 1;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while (std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec) < time);
}

// A child that runs `body` once Release is called. The destructor kills it.
class Child {
 public:
  explicit Child(const std::function<void()>& body) {
    EXPECT_EQ(pipe(fds_.data()), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(fds_[1]);
      char byte;
      if (read(fds_[0], &byte, 1) == 1) body();
      _exit(0);
    }
    close(fds_[0]);
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    close(fds_[1]);
  }
  void Release() { EXPECT_EQ(write(fds_[1], "", 1), 1); }
  pid_t pid() const { return pid_; }

 private:
  std::array<int, 2> fds_{};
  pid_t pid_ = -1;
};

class LiveTest : public testing::Test {
 protected:
  LiveTest() {
    directory_ =
        std::filesystem::path(testing::TempDir()) /
        absl::StrCat("live_", testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    options_.output = (directory_ / "perf.data").string();
    options_.frequency = 2000;
    options_.events = *events::FindEvents({}, "cpu-clock");
  }
  ~LiveTest() override { std::filesystem::remove_all(directory_); }

  absl::StatusOr<std::unique_ptr<RecordSession>> Create() {
    return RecordSession::Create(ringbuf::LinuxKernel(), options_);
  }
  static bool Forbidden(const absl::Status& status) {
    return absl::IsPermissionDenied(status) || absl::IsUnimplemented(status);
  }

  std::filesystem::path directory_;
  RecordOptions options_;
};

#define CREATE_OR_SKIP(session)                                                     \
  auto session = Create();                                                          \
  if (Forbidden(session.status())) GTEST_SKIP() << "skipped: " << session.status(); \
  ASSERT_TRUE(session.ok()) << session.status()

TEST_F(LiveTest, RecordsABusyProcessWithoutLoss) {
  Child child([] { Burn(std::chrono::milliseconds(300)); });
  options_.targets.pids = {child.pid()};
  options_.call_graph = CallGraph::kFramePointers;
  CREATE_OR_SKIP(session);
  child.Release();
  ASSERT_TRUE((*session)->Run().ok());
  const RecordSummary& summary = (*session)->summary();
  EXPECT_EQ(summary.stop_reason, StopReason::kTargetsExited);
  EXPECT_GE(summary.samples, 500u);  // about 600 samples are expected
  EXPECT_EQ(summary.lost, 0u);
  const RecordedFile file = ReadBack(options_.output);
  EXPECT_EQ(static_cast<uint64_t>(file.count("SAMPLE")), summary.samples);
  EXPECT_EQ(file.sampled_pids, std::set<uint32_t>{static_cast<uint32_t>(child.pid())});
  EXPECT_GE(file.features.build_ids.size(), 2u);
}

TEST_F(LiveTest, FollowsNewThreadsAndTheirChildren) {
  Child child([] {
    std::thread thread([] { Burn(std::chrono::milliseconds(60)); });
    thread.join();
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      Burn(std::chrono::milliseconds(60));
      _exit(0);
    }
    waitpid(grandchild, nullptr, 0);
  });
  options_.targets.pids = {child.pid()};
  CREATE_OR_SKIP(session);
  child.Release();
  ASSERT_TRUE((*session)->Run().ok());
  const RecordedFile file = ReadBack(options_.output);
  EXPECT_EQ(file.sampled_pids.size(), 2u);
  EXPECT_GE(file.sampled_tids.size(), 2u);
  EXPECT_GE(file.count("FORK"), 3);  // for the process, its thread and its child
}

extern "C" [[gnu::noipa]] void FunctionWithAProbe() { asm volatile("nop"); }

TEST_F(LiveTest, AProgramWithAProbeStartsProcesses) {
  FunctionWithAProbe();  // the call keeps the linker from dropping the function
  const std::string probe =
      std::filesystem::read_symlink("/proc/self/exe").string() + ":FunctionWithAProbe";
  auto found = events::FindEvents({}, "cpu-clock," + probe);
  if (!found.ok()) GTEST_SKIP() << "skipped: " << found.status();
  options_.events = *std::move(found);
  options_.targets.command = {"sh", "-c", "/bin/true && /bin/true && exit 5"};
  CREATE_OR_SKIP(session);
  ASSERT_TRUE((*session)->Run().ok());
  const RecordSummary& summary = (*session)->summary();
  EXPECT_EQ(summary.command->exit_code, 5);
  EXPECT_GE(ReadBack(options_.output).count("FORK"), 2);
  EXPECT_TRUE(absl::StrContains(absl::StrJoin(summary.notes, "\n"), probe + ": threads and"));
}

TEST_F(LiveTest, TellsHowLongAThreadWasBlockedAndInWhat) {
  static constexpr std::chrono::nanoseconds kSleep = std::chrono::milliseconds(50);
  Child child([] {
    const timespec time{0, kSleep.count()};
    // The first sleep may begin before the recording does.
    for (int i = 0; i < 3; ++i) clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
  });
  options_.targets.pids = {child.pid()};
  options_.call_graph = CallGraph::kDwarf;
  options_.off_cpu = true;
  CREATE_OR_SKIP(session);
  child.Release();
  ASSERT_TRUE((*session)->Run().ok());
  const RecordSummary& summary = (*session)->summary();
  ASSERT_TRUE(summary.states.has_value());
  // ThreadSanitizer adds a thread to each process.
  EXPECT_GE(summary.states->threads, 1u);
  // The state is unknown until the first switch, because the thread was about to run when recording
  // began.
  EXPECT_LT(summary.states->unknown, summary.states->blocked);
  EXPECT_GE(summary.states->blocked, static_cast<uint64_t>(2 * kSleep.count()));
  const auto& calls = summary.states->calls;
  const auto sleeping = std::find_if(
      calls.begin(), calls.end(), [](const auto& call) { return call.first == "clock_nanosleep"; });
  ASSERT_NE(sleeping, calls.end());
  EXPECT_GE(sleeping->second, static_cast<uint64_t>(2 * kSleep.count()));
  EXPECT_EQ(absl::StrJoin(ReadBack(options_.output).events, " "),
            "cpu-clock offcpu-time preempted-time dummy");
}

[[gnu::noinline]] void WaitBelow(int frames) {  // NOLINT(misc-no-recursion)
  volatile char local = 0;
  if (frames == 0) {
    pause();
  } else {
    WaitBelow(frames - 1);
  }
  local = local + 1;
}

TEST_F(LiveTest, TellsWhereAThreadWaitsThatWaitedBeforeTheRecording) {
  static constexpr int kFrames = 200;
  Child child([] { WaitBelow(kFrames); });
  child.Release();
  const auto tid = static_cast<uint32_t>(child.pid());
  while (true) {
    const auto thread = ReadWaitingThread(options_.roots, tid, tid);
    if (thread && thread->system_call == SYS_pause) break;
    std::this_thread::yield();
  }
  options_.targets.pids = {child.pid()};
  options_.call_graph = CallGraph::kDwarf;
  options_.off_cpu = true;
  options_.duration = std::chrono::milliseconds(200);
  CREATE_OR_SKIP(session);
  ASSERT_TRUE((*session)->Run().ok());
  const RecordSummary& summary = (*session)->summary();
  EXPECT_GE(summary.chains.whole(), 1u);
  EXPECT_EQ(summary.chains.cut(), 0u);
  ASSERT_TRUE(summary.states.has_value());
  EXPECT_LT(summary.states->without_stack, summary.states->blocked / 2);
  EXPECT_GT(ReadBack(options_.output).longest_chain, size_t{kFrames});
}

TEST_F(LiveTest, RecordsOnlyTheProcessItselfWithoutInherit) {
  Child child([] {
    std::thread thread([] { Burn(std::chrono::milliseconds(60)); });
    thread.join();
    Burn(std::chrono::milliseconds(60));
  });
  options_.targets.pids = {child.pid()};
  options_.inherit = false;
  CREATE_OR_SKIP(session);
  child.Release();
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ(ReadBack(options_.output).sampled_tids,
            std::set<uint32_t>{static_cast<uint32_t>(child.pid())});
}

TEST_F(LiveTest, AttachesToAProcessWhoseThreadsComeAndGo) {
  Child child([] {
    while (true) {
      std::thread thread([] { Burn(std::chrono::milliseconds(1)); });
      std::thread other([] { Burn(std::chrono::milliseconds(1)); });
      thread.join();
      other.join();
    }
  });
  child.Release();
  options_.targets.pids = {child.pid()};
  for (int i = 0; i < 20; ++i) {
    CREATE_OR_SKIP(session);
    (*session)->RequestStop();
    ASSERT_TRUE((*session)->Run().ok());
  }
}

TEST_F(LiveTest, RecordsACommandFromItsExec) {
  options_.targets.command = {"sh", "-c",
                              "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exit 5"};
  CREATE_OR_SKIP(session);
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ((*session)->summary().command->exit_code, 5);
  const RecordedFile file = ReadBack(options_.output);
  EXPECT_GT(file.count("SAMPLE"), 10);
  EXPECT_GE(file.count("COMM"), 1);
  EXPECT_GE(file.count("MMAP2"), 3);
}

// ---- unwound while recording

// Programs to unwind. Each spends its time at the end of a chain that frame pointers do not show,
// or that is longer than the copied stack.

int CompareSlowly(const void* a, const void* b) {
  volatile int sink = 0;
  for (int i = 0; i < 200; ++i) sink = sink + i;
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}
std::chrono::nanoseconds CpuTime() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// Sorts for this much CPU time, however busy the machine is.
void SortFor(std::chrono::milliseconds time) {
  const auto end = CpuTime() + time;
  while (CpuTime() < end) {
    std::array<int, 500> numbers;
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i * 7919 % 1009);
    qsort(numbers.data(), numbers.size(), sizeof(int), CompareSlowly);
  }
}

[[gnu::noinline]] void BurnBelow(int frames, std::chrono::milliseconds time) {
  volatile char local = 0;
  if (frames == 0) {
    Burn(time);
  } else {
    BurnBelow(frames - 1, time);
  }
  local = local + 1;
}

void BurnInHandler(int) { Burn(std::chrono::milliseconds(200)); }
void BurnOnOtherStack() {
  static std::array<char, 1 << 16> memory;
  const stack_t stack = {.ss_sp = memory.data(), .ss_flags = 0, .ss_size = memory.size()};
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = BurnInHandler;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
}

[[gnu::noinline]] void Throw(int frames) {
  if (frames == 0) throw std::runtime_error("on purpose");
  Throw(frames - 1);
  asm volatile("");
}
void ThrowFor(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    try {
      Throw(20);
    } catch (const std::runtime_error&) {
      continue;
    }
  }
}

class LiveUnwindTest : public LiveTest {
 protected:
  // Records `body` and notes the quality of its chains. At least the share `least` of the chains
  // must be complete.
  void Record(const std::function<void()>& body, double least = 0.995) {
    options_.call_graph = CallGraph::kDwarf;
    Child child(body);
    options_.targets.pids = {child.pid()};
    CREATE_OR_SKIP(session);
    child.Release();
    ASSERT_TRUE((*session)->Run().ok());
    summary_ = (*session)->summary();
    file_ = ReadBack(options_.output);
    const ChainQuality& chains = summary_.chains;
    ASSERT_GT(chains.chains(), 50u);
    for (const ChainQuality::Cut& cut : chains.cuts) {
      std::cout << cut.chains << " cut: " << cut.reason << " in " << cut.image << "\n";
    }
    EXPECT_GE(static_cast<double>(chains.whole()), least * static_cast<double>(chains.chains()));
  }

  RecordSummary summary_;
  RecordedFile file_;
};

TEST_F(LiveUnwindTest, ChainsPassThroughTheCLibrary) {
  Record([] { SortFor(std::chrono::milliseconds(300)); });
  if (IsSkipped()) return;
  EXPECT_GT(file_.longest_chain, 6u);
}

TEST_F(LiveUnwindTest, TheFileHasCallChainsAndNoStacks) {
  Record([] { SortFor(std::chrono::milliseconds(300)); });
  if (IsSkipped()) return;
  EXPECT_EQ(file_.attr.sample_type & (perf_event::kSampleRegsUser | perf_event::kSampleStackUser),
            0u);
  EXPECT_NE(file_.attr.sample_type & perf_event::kSampleCallchain, 0u);
  EXPECT_EQ(perf_data::ReadChainQuality(file_.features), summary_.chains);
  EXPECT_TRUE(perf_data::HasExactUserCallers(file_.attr));
  // The file has 80 bytes for each sample and 8 bytes for each frame, besides the header and the
  // mappings. Each mapping has a record and a build-id.
  constexpr uint64_t kOnce = 8192, kMapping = 512;
  const auto mappings = static_cast<uint64_t>(file_.count("MMAP2"));
  EXPECT_LE(summary_.bytes, kOnce + kMapping * mappings + 80 * summary_.samples + 8 * file_.frames)
      << summary_.samples << " samples, " << file_.frames << " frames, " << mappings << " mappings";
}

// The first chains are cut, until the program that reads the rest of the stack is loaded.
TEST_F(LiveUnwindTest, ChainsThatReachFarBeyondTheCopiedStackAreWholeIfTheRestMayBeRead) {
  Record([] { BurnBelow(3000, std::chrono::milliseconds(300)); }, /*least=*/0);
  if (IsSkipped()) return;
  ASSERT_FALSE(summary_.chains.cuts.empty());
  // The kernel copies fewer stack bytes if other parts of the record leave less room for them.
  const std::string& reason = summary_.chains.cuts[0].reason;
  EXPECT_TRUE(reason == "stack too short" || reason == "stack copied short") << reason;
  ASSERT_EQ(summary_.chain_weights.size(), 1u);
  const ChainWeights& weight = summary_.chain_weights[0];
  if (KernelPrograms()->LoadGates().ok()) {
    EXPECT_GT(weight.whole, weight.cut);
  } else {
    EXPECT_GT(weight.cut, weight.whole);
  }
}

// The sample copies the stack of the signal handler, but not that of the interrupted function.
TEST_F(LiveUnwindTest, HandlersOnAStackOfTheirOwnEndWithWhatTheyInterrupted) {
  Record(BurnOnOtherStack, /*least=*/0);
  if (IsSkipped()) return;
  ASSERT_FALSE(summary_.chains.cuts.empty());
  EXPECT_EQ(summary_.chains.cuts[0].reason, "stack switch");
}

TEST_F(LiveUnwindTest, ExceptionsOnTheirWay) {
  Record([] { ThrowFor(std::chrono::milliseconds(300)); });
}

TEST_F(LiveUnwindTest, KeepsRawStacksWhenToldTo) {
  Child child([] { SortFor(std::chrono::milliseconds(100)); });
  options_.targets.pids = {child.pid()};
  options_.call_graph = CallGraph::kDwarf;
  options_.post_unwind = true;
  CREATE_OR_SKIP(session);
  child.Release();
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ((*session)->summary().chains.chains(), 0u);
  const RecordedFile file = ReadBack(options_.output);
  EXPECT_NE(file.attr.sample_type & perf_event::kSampleStackUser, 0u);
  ASSERT_GT((*session)->summary().samples, 0u);
  EXPECT_GT((*session)->summary().bytes / (*session)->summary().samples, 1000u);
}

TEST_F(LiveTest, DecidesByTheTargetsImages) {
  options_.targets.command = {"sh", "-c", "exit 0"};
  options_.call_graph = CallGraph::kAuto;
  CREATE_OR_SKIP(session);
  const std::string choice = (*session)->summary().call_graph;
  EXPECT_TRUE(choice.starts_with("dwarf (") || choice.starts_with("fp (")) << choice;
  ASSERT_TRUE((*session)->Run().ok());
}

TEST_F(LiveTest, LeavesAReadableFileWhenItIsKilled) {
  Child target([] { Burn(std::chrono::hours(1)); });
  target.Release();
  options_.targets.pids = {target.pid()};
  { CREATE_OR_SKIP(session); }
  options_.output += ".killed";
  options_.tick = std::chrono::milliseconds(5);
  Child recorder([this] {
    auto session = Create();
    if (session.ok()) (void)(*session)->Run();
  });
  recorder.Release();
  std::error_code error;
  while (!(std::filesystem::file_size(options_.output, error) > 32768) || error) {
    ASSERT_EQ(waitpid(recorder.pid(), nullptr, WNOHANG), 0) << "the recorder has ended";
    std::this_thread::yield();
  }
  kill(recorder.pid(), SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(recorder.pid()), &info, WEXITED | WNOWAIT);
  const RecordedFile file = ReadBack(options_.output);
  EXPECT_GT(file.count("SAMPLE"), 100);
  EXPECT_GT(file.count("MMAP2"), 0);
  EXPECT_EQ(absl::StrJoin(file.features.cmdline, ""), "");
}

TEST_F(LiveTest, EachSampleIsInOneOfSeveralFiles) {
  options_.targets.command = {
      "sh", "-c",
      "for part in 1 2 3; do i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; kill -USR2 $PPID; "
      "done; i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"};
  options_.switch_output = SwitchOutput{.at_signal = true};
  options_.call_graph = CallGraph::kDwarf;
  std::vector<std::string> paths;
  options_.on_file = [&](const CompleteFile& file) { paths.push_back(file.path); };
  CREATE_OR_SKIP(session);
  ASSERT_TRUE((*session)->Run().ok());
  const RecordSummary& summary = (*session)->summary();
  paths.push_back(summary.last_file);
  EXPECT_EQ(summary.files, paths.size());
  EXPECT_GE(paths.size(), 2u);  // several pending signals count as one signal
  uint64_t samples = 0;
  for (const std::string& path : paths) {
    const RecordedFile file = ReadBack(path);
    samples += static_cast<uint64_t>(file.count("SAMPLE"));
    EXPECT_GT(file.count("MMAP2"), 2) << path;
  }
  EXPECT_EQ(samples, summary.samples);
}

// Exits with 0 on success, else with the number of the failed check.
int RecordAsNobody(RecordOptions options) {
  constexpr uid_t kNobody = 65534;
  if (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0) return 2;
  // Allows tracing again: setuid without an exec has forbidden to trace this process and the
  // command that it forks.
  prctl(PR_SET_DUMPABLE, 1);
  auto session = RecordSession::Create(ringbuf::LinuxKernel(), options);
  if (!session.ok()) {
    std::cerr << session.status() << "\n";
    return 3;
  }
  if (!(*session)->Run().ok()) return 5;
  if ((*session)->summary().samples == 0) return 6;
  const std::string notes = absl::StrJoin((*session)->summary().notes, "\n");
  return absl::StrContains(notes, "kernel.perf_event_paranoid=1") ? 0 : 7;
}

TEST_F(LiveTest, FallsBackToUserSpaceAsAnOrdinaryUser) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: needs root to become another user";
  const auto paranoid = procfs::ReadNumber("/proc/sys/kernel/perf_event_paranoid");
  if (paranoid != 2) GTEST_SKIP() << "skipped: kernel.perf_event_paranoid is not 2";
  // The test's own directory may be accessible only to root.
  std::string directory = "/tmp/profiler_live_XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  std::filesystem::permissions(directory, std::filesystem::perms::all);
  options_.output = directory + "/perf.data";
  options_.targets.command = {"sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"};
  const pid_t child = fork();
  if (child == 0) _exit(RecordAsNobody(options_));
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  std::filesystem::remove_all(directory);
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "skipped: may not become another user";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(LiveTest, RecordsAllCpusWhileACommandRuns) {
  options_.targets.system_wide = true;
  options_.targets.command = {"sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"};
  CREATE_OR_SKIP(session);
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ((*session)->summary().stop_reason, StopReason::kCommandExited);
  const RecordedFile file = ReadBack(options_.output);
  EXPECT_GT(file.count("SAMPLE"), 10);
  EXPECT_GT(file.count("FORK"), 1);
}

}  // namespace
}  // namespace profiler::record
