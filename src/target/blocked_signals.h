// Signals as something to read, while it lives.
//
// They are blocked and come through a signalfd(2), so no handler runs. When this object goes, their
// former effect is back, and one that came twice takes effect then. There may be several of these,
// for different signals.

#pragma once

#include <signal.h>

#include <memory>
#include <optional>
#include <span>

#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler::target {

// One thread: that whose mask is changed. Other threads must have these signals blocked.
class BlockedSignals {
 public:
  struct Signal {
    int number = 0;
    bool sent_to_us = false;  // by kill(2) and the like, not by the terminal to its whole group
  };

  // Errors: those of signalfd(2).
  static absl::StatusOr<BlockedSignals> Block(std::span<const int> signals);
  BlockedSignals(BlockedSignals&& other) noexcept;
  BlockedSignals& operator=(BlockedSignals&&) = delete;
  ~BlockedSignals();

  int fd() const { return fd_.get(); }  // readable when a signal waits; non-blocking
  std::optional<Signal> Take();

  // From now on the next of them ends the process at once, whatever its threads are doing. What
  // comes within a tenth of a second is still the one that was taken: timeout(1) sends each twice.
  // A thread waits for it until this object goes. Take nothing after that.
  void EndAtNext();

 private:
  class NextSignal;

  BlockedSignals(UniqueFd fd, const sigset_t& blocked);

  UniqueFd fd_;
  sigset_t blocked_;  // by us: those that were blocked before stay so
  std::unique_ptr<NextSignal> next_;
};

// Those that end what we do: SIGINT, SIGTERM and SIGQUIT, and also, where they are neither ignored
// (SIGHUP under nohup) nor blocked for another purpose, SIGHUP, SIGUSR1, SIGUSR2 and SIGXCPU.
absl::StatusOr<BlockedSignals> BlockStopSignals();

// The signal that ends a command when we get `number`: the same if its users expect that of it,
// else SIGTERM.
int SignalForCommand(int number);

}  // namespace profiler::target
