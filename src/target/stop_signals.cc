#include "src/target/stop_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace profiler::target {

StopSignals::StopSignals(UniqueFd fd, const sigset_t& former)
    : fd_(std::move(fd)), former_(former) {}

StopSignals::StopSignals(StopSignals&& other) noexcept
    : fd_(std::move(other.fd_)), former_(other.former_) {}

StopSignals::~StopSignals() {
  if (fd_.valid()) pthread_sigmask(SIG_SETMASK, &former_, nullptr);
}

absl::StatusOr<StopSignals> StopSignals::Block() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGINT);
  sigaddset(&wanted, SIGTERM);
  // Blocked, an ignored signal would be delivered to the signalfd. (SIGINT is: a shell's background
  // jobs ignore it, and `kill -INT` is still how a script ends a recording.)
  struct sigaction action;
  if (sigaction(SIGHUP, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
    sigaddset(&wanted, SIGHUP);
  }
  UniqueFd fd(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return ErrnoStatus(errno, "signalfd");
  sigset_t former;
  pthread_sigmask(SIG_BLOCK, &wanted, &former);
  return StopSignals(std::move(fd), former);
}

std::optional<StopSignals::Signal> StopSignals::Take() {
  signalfd_siginfo info;
  if (read(fd_.get(), &info, sizeof(info)) != static_cast<ssize_t>(sizeof(info))) {
    return std::nullopt;
  }
  // The terminal's come from the kernel: SI_KERNEL.
  return Signal{static_cast<int>(info.ssi_signo), info.ssi_code <= 0};
}

}  // namespace profiler::target
