#include "src/machine/target/blocked_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

namespace profiler::target {

class BlockedSignals::NextSignal {
 public:
  explicit NextSignal(const sigset_t& signals) : signals_(signals), thread_([this] { Wait(); }) {}
  ~NextSignal() {
    is_stopped_ = true;
    thread_.join();
  }

 private:
  void Wait() const {
    using std::chrono::steady_clock;
    constexpr std::chrono::milliseconds kStillTheFirst{100};
    constexpr timespec kLookEvery{.tv_sec = 0, .tv_nsec = 10'000'000};
    const auto began = steady_clock::now();
    while (!is_stopped_) {
      const int number = sigtimedwait(&signals_, nullptr, &kLookEvery);
      if (number > 0 && steady_clock::now() - began > kStillTheFirst) EndBy(number);
    }
  }

  // Ends the process by the signal, after the handlers that remove temporary files.
  [[noreturn]] static void EndBy(int number) {
    struct sigaction action;
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
      signal(number, SIG_DFL);
    }
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    raise(number);
    std::_Exit(128 + number);
  }

  const sigset_t signals_;
  std::atomic<bool> is_stopped_ = false;
  std::thread thread_;  // declared last, because it uses the members above
};

BlockedSignals::BlockedSignals(UniqueFd fd, const sigset_t& blocked)
    : fd_(std::move(fd)), blocked_(blocked) {}

BlockedSignals::BlockedSignals(BlockedSignals&& other) noexcept
    : fd_(std::move(other.fd_)), blocked_(other.blocked_), next_(std::move(other.next_)) {}

BlockedSignals::~BlockedSignals() {
  next_.reset();
  if (fd_.valid()) pthread_sigmask(SIG_UNBLOCK, &blocked_, nullptr);
}

absl::StatusOr<BlockedSignals> BlockedSignals::Block(std::span<const int> signals) {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signal : signals) sigaddset(&wanted, signal);
  UniqueFd fd(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return ErrnoStatus(errno, "signalfd");
  sigset_t former;
  pthread_sigmask(SIG_BLOCK, &wanted, &former);
  for (const int signal : signals) {
    if (sigismember(&former, signal) != 0) sigdelset(&wanted, signal);
  }
  return BlockedSignals(std::move(fd), wanted);
}

std::optional<BlockedSignals::Signal> BlockedSignals::Take() {
  signalfd_siginfo info;
  if (read(fd_.get(), &info, sizeof(info)) != static_cast<ssize_t>(sizeof(info))) {
    return std::nullopt;
  }
  // Signals of the terminal come from the kernel: SI_KERNEL.
  return Signal{static_cast<int>(info.ssi_signo), info.ssi_code <= 0};
}

void BlockedSignals::EndAtNext() {
  if (next_ == nullptr) next_ = std::make_unique<NextSignal>(blocked_);
}

int SignalForCommand(int number) {
  return number == SIGINT || number == SIGTERM || number == SIGHUP ? number : SIGTERM;
}

absl::StatusOr<BlockedSignals> BlockStopSignals() {
  std::vector<int> signals = {SIGINT, SIGTERM, SIGQUIT};
  // An ignored signal would reach the signalfd if it were blocked. (SIGINT and SIGQUIT are blocked
  // anyway: a shell's background jobs ignore them, and scripts still end a recording with `kill
  // -INT`.)
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  for (const int number : {SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU}) {
    struct sigaction action;
    const bool is_free = sigismember(&blocked, number) == 0 &&
                         sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN;
    if (is_free) signals.push_back(number);
  }
  return BlockedSignals::Block(signals);
}

}  // namespace profiler::target
