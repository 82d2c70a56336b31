// Tests the reading of counters: first from pages filled by the test, then on the real kernel.

#include "ringbuf/counter.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace profiler::ringbuf {
namespace {

perf_event_mmap_page PageOfRegister(uint32_t number) {
  perf_event_mmap_page page{};
  page.cap_user_rdpmc = 1;
  page.cap_user_time = 1;
  page.index = number + 1;
  page.pmc_width = 48;
  return page;
}

// Reads a page that no other thread writes.
std::optional<CounterReading> Reading(const perf_event_mmap_page& page,
                                      const ProcessorReads& processor) {
  return ReadCounterPage(page, processor);
}

constexpr ProcessorReads kFive = {[](uint32_t) { return uint64_t{5}; }, [] { return uint64_t{0}; }};

TEST(CounterPage, AddsTheRegisterToTheOffset) {
  perf_event_mmap_page page = PageOfRegister(3);
  page.offset = 1000;
  EXPECT_EQ(ReadCounterPage(page, kFive)->value, 1005u);
}

TEST(CounterPage, ReadsTheRegisterThatTheIndexNames) {
  const ProcessorReads number{[](uint32_t n) { return uint64_t{n}; }, kFive.clock};
  EXPECT_EQ(Reading(PageOfRegister(0), number)->value, 0u);
  EXPECT_EQ(Reading(PageOfRegister(31), number)->value, 31u);
  EXPECT_EQ(Reading(PageOfRegister(1u << 30), number)->value, 1u << 30);
}

TEST(CounterPage, TakesTheHighestBitOfTheRegisterForItsSign) {
  perf_event_mmap_page page = PageOfRegister(0);
  page.offset = 100;
  const ProcessorReads minus_one{[](uint32_t) { return (uint64_t{1} << 48) - 1; }, kFive.clock};
  EXPECT_EQ(ReadCounterPage(page, minus_one)->value, 99u);
  page.pmc_width = 64;
  EXPECT_EQ(ReadCounterPage(page, minus_one)->value, (uint64_t{1} << 48) + 99);
}

TEST(CounterPage, TakesBitsAboveTheWidthForNothing) {
  perf_event_mmap_page page = PageOfRegister(0);
  page.pmc_width = 32;
  const ProcessorReads high{[](uint32_t) { return (uint64_t{7} << 32) + 5; }, kFive.clock};
  EXPECT_EQ(ReadCounterPage(page, high)->value, 5u);
}

TEST(CounterPage, AddsTheTimeSinceThePageWasWritten) {
  perf_event_mmap_page page = PageOfRegister(0);
  page.time_enabled = 1000;
  page.time_running = 400;
  page.time_mult = 3;
  page.time_shift = 1;
  page.time_offset = static_cast<uint64_t>(-100);
  const ProcessorReads at_200{kFive.counter, [] { return uint64_t{200}; }};
  const auto reading = ReadCounterPage(page, at_200);
  EXPECT_EQ(reading->enabled, 1200u);  // 1000 + 200 · 3/2 − 100
  EXPECT_EQ(reading->running, 600u);
}

TEST(CounterPage, GoesOnWhereAShortClockStartsAnew) {
  perf_event_mmap_page page = PageOfRegister(0);
  page.time_mult = 1;
  page.cap_user_time_short = 1;
  page.time_mask = 0xff;
  page.time_cycles = 0x1f0;
  page.time_offset = static_cast<uint64_t>(-0x1f0);
  const ProcessorReads at_5{kFive.counter, [] { return uint64_t{5}; }};
  EXPECT_EQ(ReadCounterPage(page, at_5)->enabled, 0x15u);
}

TEST(CounterPage, ReadsAllAgainWhenTheKernelWroteInBetween) {
  static perf_event_mmap_page page;
  static int reads;
  page = PageOfRegister(0);
  reads = 0;
  const ProcessorReads interrupted{[](uint32_t) {
                                     if (++reads == 1) {
                                       page.lock += 2;
                                       page.offset = 70;
                                     }
                                     return uint64_t{5};
                                   },
                                   kFive.clock};
  EXPECT_EQ(ReadCounterPage(page, interrupted)->value, 75u);
  EXPECT_EQ(reads, 2);
}

TEST(CounterPage, TellsNothingThatItDoesNotPermit) {
  perf_event_mmap_page page = PageOfRegister(0);
  page.cap_user_rdpmc = 0;
  EXPECT_FALSE(ReadCounterPage(page, kFive));
  page = PageOfRegister(0);
  page.cap_user_time = 0;
  EXPECT_FALSE(ReadCounterPage(page, kFive));
  page = PageOfRegister(0);
  page.index = 0;
  EXPECT_FALSE(ReadCounterPage(page, kFive));
  page = PageOfRegister(0);
  page.pmc_width = 0;
  EXPECT_FALSE(ReadCounterPage(page, kFive));
  EXPECT_FALSE(Reading(PageOfRegister(0), {}));
}

perf_event_attr Software(uint64_t config) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = config;
  attr.exclude_kernel = 1;
  return attr;
}

perf_event_attr Instructions() {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_HARDWARE;
  attr.config = PERF_COUNT_HW_INSTRUCTIONS;
  attr.exclude_kernel = 1;
  return attr;
}

#define OPEN_OR_SKIP(counter, attr)                                              \
  auto counter##_opened = Counter::Open(attr);                                   \
  if (!counter##_opened.ok()) {                                                  \
    GTEST_SKIP() << "skipped, because this kernel opens no such event of ours: " \
                 << counter##_opened.status().message();                         \
  }                                                                              \
  Counter& counter = **counter##_opened

#define OPEN_IN_USER_SPACE_OR_SKIP(counter, attr)                                       \
  OPEN_OR_SKIP(counter, attr);                                                          \
  if (!counter.reads_in_user_space()) {                                                 \
    GTEST_SKIP() << "skipped, because this kernel does not let programs read counters"; \
  }

// Executes 2 · `rounds` instructions, and a few around them.
void Loop(uint64_t rounds) {
#if defined(__aarch64__)
  asm volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(rounds) : : "cc");
#elif defined(__x86_64__)
  asm volatile("1: dec %0\n\tjne 1b" : "+r"(rounds) : : "cc");
#endif
}

void TouchPages(size_t count) {
  const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  char* pages = static_cast<char*>(
      mmap(nullptr, count * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  madvise(pages, count * size, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < count; ++i) static_cast<volatile char*>(pages)[i * size] = 1;
  munmap(pages, count * size);
}

TEST(Counter, ReadsWhatTheKernelKnowsWhereThereIsNoRegister) {
  perf_event_attr attr = Software(PERF_COUNT_SW_PAGE_FAULTS);
  OPEN_OR_SKIP(faults, attr);
  EXPECT_FALSE(faults.reads_in_user_space());
  const auto before = faults.Read();
  TouchPages(50);
  const auto after = faults.Read();
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_GE(after->value - before->value, 50u);
  // The comparison itself may touch a new page or two.
  const uint64_t later = faults.ReadFromKernel()->value;
  EXPECT_GE(later, after->value);
  EXPECT_LT(later - after->value, 50u);
  EXPECT_GT(after->enabled, before->enabled);
  EXPECT_EQ(after->running, after->enabled);
}

TEST(Counter, CountsBetweenEnableAndDisable) {
  perf_event_attr attr = Software(PERF_COUNT_SW_PAGE_FAULTS);
  attr.disabled = 1;
  OPEN_OR_SKIP(faults, attr);
  TouchPages(50);
  EXPECT_EQ(faults.Read()->value, 0u);
  ASSERT_TRUE(faults.Enable().ok());
  TouchPages(50);
  ASSERT_TRUE(faults.Disable().ok());
  const uint64_t counted = faults.Read()->value;
  EXPECT_GE(counted, 50u);
  TouchPages(50);
  EXPECT_EQ(faults.Read()->value, counted);
}

TEST(Counter, ErrorsKeepTheirErrno) {
  perf_event_attr attr = Software(~uint64_t{0});
  const auto opened = Counter::Open(attr);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(ErrnoOf(opened.status()), 0);
}

TEST(Counter, CountsTheInstructionsOfALoop) {
  OPEN_OR_SKIP(instructions, Instructions());
  const uint64_t before = instructions.Read()->value;
  Loop(1'000'000);
  const uint64_t counted = instructions.Read()->value - before;
  EXPECT_GE(counted, 2'000'000u);
  EXPECT_LT(counted, 2'002'000u);
}

TEST(Counter, RegisterAndKernelSayTheSame) {
  OPEN_IN_USER_SPACE_OR_SKIP(instructions, Instructions());
  for (int i = 0; i < 1000; ++i) {
    const auto first = instructions.Read();
    const auto kernel = instructions.ReadFromKernel();
    const auto last = instructions.Read();
    ASSERT_TRUE(first.ok() && kernel.ok() && last.ok());
    ASSERT_LE(first->value, kernel->value);
    ASSERT_LE(kernel->value, last->value);
    ASSERT_LT(last->value - first->value, 2000u);
    ASSERT_LE(first->enabled, kernel->enabled);
    ASSERT_LE(kernel->enabled, last->enabled);
    ASSERT_LE(first->running, kernel->running);
    ASSERT_LE(kernel->running, last->running);
  }
}

// Kills this process at any system call except exit_group(2).
bool ForbidSystemCalls() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog filter{std::size(program), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(Counter, ReadsWithoutASystemCall) {
  OPEN_IN_USER_SPACE_OR_SKIP(unused, Instructions());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto counter = Counter::Open(Instructions());
    if (!counter.ok() || !ForbidSystemCalls()) _exit(2);
    uint64_t last = 0;
    bool grows = true;
    for (int i = 0; i < 1000; ++i) {
      const uint64_t value = (*counter)->Read()->value;
      grows &= value > last;
      last = value;
    }
    _exit(grows ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace profiler::ringbuf
