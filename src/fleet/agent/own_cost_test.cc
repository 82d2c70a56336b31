#include "src/fleet/agent/own_cost.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>

namespace profiler::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

nanoseconds Now(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
}

TEST(ReadOwnCost, CountsThisProcess) {
  const nanoseconds before = ReadOwnCost().cpu;
  while (Now(CLOCK_PROCESS_CPUTIME_ID) < before + milliseconds(60)) {
  }
  EXPECT_GE(ReadOwnCost().cpu, before + milliseconds(40));
}

// The child uses some CPU time and memory, and then waits.
TEST(ReadOwnCost, CountsAChildWhileItRunsAndAfterwards) {
  constexpr size_t kBytes = 32 << 20;
  std::array<int, 2> ready;
  ASSERT_EQ(pipe(ready.data()), 0);
  const OwnCost before = ReadOwnCost();
  const pid_t child = fork();
  if (child == 0) {
    void* memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(memory, 1, kBytes);
    while (Now(CLOCK_PROCESS_CPUTIME_ID) < milliseconds(100)) {
    }
    (void)!write(ready[1], "x", 1);
    for (;;) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const OwnCost running = ReadOwnCost();
  EXPECT_GE(running.cpu, before.cpu + milliseconds(80));
  EXPECT_GE(running.memory, before.memory + kBytes);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const OwnCost after = ReadOwnCost();
  EXPECT_GE(after.cpu, before.cpu + milliseconds(80));
  EXPECT_LT(after.memory, running.memory);
  EXPECT_GE(running.resident, before.resident + kBytes);
}

}  // namespace
}  // namespace profiler::agent
