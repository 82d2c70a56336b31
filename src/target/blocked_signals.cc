#include "src/target/blocked_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

namespace profiler::target {

BlockedSignals::BlockedSignals(UniqueFd fd, const sigset_t& blocked)
    : fd_(std::move(fd)), blocked_(blocked) {}

BlockedSignals::BlockedSignals(BlockedSignals&& other) noexcept
    : fd_(std::move(other.fd_)), blocked_(other.blocked_) {}

BlockedSignals::~BlockedSignals() {
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
  // The terminal's come from the kernel: SI_KERNEL.
  return Signal{static_cast<int>(info.ssi_signo), info.ssi_code <= 0};
}

absl::StatusOr<BlockedSignals> BlockStopSignals() {
  std::vector<int> signals = {SIGINT, SIGTERM};
  // Blocked, an ignored signal would be delivered to the signalfd. (SIGINT is: a shell's background
  // jobs ignore it, and `kill -INT` is still how a script ends a recording.)
  struct sigaction action;
  if (sigaction(SIGHUP, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
    signals.push_back(SIGHUP);
  }
  return BlockedSignals::Block(signals);
}

}  // namespace profiler::target
