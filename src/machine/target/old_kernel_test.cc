// Tests that ends of processes are noticed without pidfd_open(2), as on Linux before 5.3.

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <chrono>
#include <functional>

#include "gtest/gtest.h"
#include "src/base/testing/refused_call.h"
#include "src/machine/target/child_command.h"
#include "src/machine/target/target_watch.h"

namespace profiler::target {
namespace {

constexpr int kCannotFilter = 77;

// Checks `holds` in a forked process, because a system call filter cannot be removed.
void ExpectOnOldKernel(const std::function<bool()>& holds) {
  const auto child = [&] {
    if (!RefuseSystemCall(SYS_pidfd_open, ENOSYS)) _exit(kCannotFilter);
    _exit(holds() ? 0 : 1);
  };
  EXPECT_EXIT(
      child(),
      [](int status) {
        return WIFEXITED(status) &&
               (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kCannotFilter);
      },
      "");
}

TEST(OldKernelTest, ACommandsEndIsSeenAndReapedOnce) {
  ExpectOnOldKernel([] {
    auto command = Command::Fork({"sh", "-c", "exit 3"}, false);
    if (!command.ok() || (*command)->EndsWithin(std::chrono::milliseconds(0))) return false;
    if (!(*command)->Start().ok() || !(*command)->EndsWithin(std::chrono::minutes(1))) return false;
    const auto end = (*command)->Reap();
    return end.ok() && end->exit_code == 3;
  });
}

TEST(OldKernelTest, ACommandThatRunsHasNotEnded) {
  ExpectOnOldKernel([] {
    auto command = Command::Fork({"sleep", "1000"}, false);
    if (!command.ok() || !(*command)->Start().ok()) return false;
    const bool runs = !(*command)->EndsWithin(std::chrono::milliseconds(1));
    (*command)->Kill(SIGKILL);
    return runs && (*command)->EndsWithin(std::chrono::minutes(1)) &&
           (*command)->Reap()->signal == SIGKILL;
  });
}

TEST(OldKernelTest, AProcessThatNobodyHasReapedHasEnded) {
  ExpectOnOldKernel([] {
    const pid_t pid = fork();
    if (pid == 0) {
      pause();
      _exit(0);
    }
    boost::asio::io_context io;
    bool ended = false;
    TargetWatch watch(io, [&] { ended = true; });
    if (!watch.Watch({pid}, {}).ok()) return false;
    if (io.poll(); ended) return false;
    kill(pid, SIGKILL);
    io.run();
    return ended;
  });
}

TEST(OldKernelTest, AProcessThatIsGoneAlreadyIsReportedByTheLoop) {
  ExpectOnOldKernel([] {
    const pid_t pid = fork();
    if (pid == 0) _exit(0);
    waitpid(pid, nullptr, 0);
    boost::asio::io_context io;
    bool ended = false;
    TargetWatch watch(io, [&] { ended = true; });
    if (!watch.Watch({pid}, {}).ok() || ended) return false;
    io.run();
    return ended;
  });
}

}  // namespace
}  // namespace profiler::target
